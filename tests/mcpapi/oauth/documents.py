"""A server of client-id metadata documents on this machine, with a certificate of its own making."""

from __future__ import annotations

import datetime as dt
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "client.example"


def certificate(folder: Path) -> Path:
    """A certificate for HOST and its key in one file, which is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file


class DocumentServer:
    """Answers whatever ``answers`` holds for a path: status, headers and body; counts what it is asked."""

    def __init__(self, certificate_file: Path) -> None:
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[str] = []
        documents = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                documents.asked.append(self.path)
                status, headers, body = documents.answers.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate_file)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def url(self, path: str = "/client.json") -> str:
        return f"https://{HOST}:{self._server.server_address[1]}{path}"

    def serve(
        self, path: str = "/client.json", status: int = 200, kind: str = "application/json", **changed: Any
    ) -> str:
        """Serve a document at the path; the client's id. None leaves a member out."""
        document = {
            "client_id": self.url(path),
            "client_name": "Documented",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            **changed,
        }
        body = json.dumps({key: value for key, value in document.items() if value is not None}).encode()
        self.answers[path] = (status, {"Content-Type": kind}, body)
        return self.url(path)

    @contextmanager
    def running(self) -> Iterator[DocumentServer]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


@contextmanager
def at_home() -> Iterator[None]:
    """HOST is this machine, which the fetcher would otherwise never connect to; all else stays as it is."""
    from oauth2_provider import cimd

    looked_up = cimd._resolve_and_validate

    def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if host == HOST else looked_up(host, port)

    with mock.patch.object(cimd, "_resolve_and_validate", resolve):
        yield
