"""``manage.py serve``: everything one vault needs, in one process."""

from __future__ import annotations

import errno
import shlex
import socket
import sys
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from mcpapi.checks import is_weak
from mcpapi.oauth.addresses import is_loopback
from synapse.first_run import Credentials, ensure_root, first_credentials, stdio_environment
from vault.current import current_vault
from vault.history import recover_orphans
from wiki.binding import check_binding
from wiki.embedding.thread import EmbedThread
from wiki.jobs import JobThread, enqueue
from wiki.management.base import SynapseCommand
from wiki.management.progress import scan_with_progress
from wiki.services.health import LookoutThread
from wiki.startup import ensure_tables, ensure_vault
from wiki.sync.watching import WatchThread

#: Beyond it requests are told to come later (503). A process has 1,024 files to open, as a rule, and needs some itself.
_MAX_CONNECTIONS = 512


class Command(SynapseCommand):
    help = "Set up what is missing, scan the vault, serve it over HTTP and watch it for changes."
    needs_tables = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.SYNAPSE_HOST, help="address to listen on (SYNAPSE_HOST)")
        parser.add_argument("--port", type=int, default=settings.SYNAPSE_PORT, help="port to listen on (SYNAPSE_PORT)")
        parser.add_argument("--no-watch", action="store_true", help="don't watch the vault for changes")

    def run(self, *, host: str, port: int, no_watch: bool, **options: Any) -> None:
        """Prepare, scan, then serve until interrupted."""
        self._refuse_open_defaults(host)
        listener = self._listen(host, port)
        # The socket is held from here on; a restart of this process (a new vault) must give it up first.
        listener.set_inheritable(False)
        if ensure_root():
            self.stdout.write(f"Made a starter vault in {settings.SYNAPSE_VAULT}")
        self.check(tags=["vault"])
        ensure_vault()
        if ensure_tables():
            self.stdout.write("Made the index's tables")
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # it may stay empty: files are found in the packages
        check_binding()
        if current_vault().writable:
            for orphan in recover_orphans(current_vault()):
                self.stdout.write(f"An interrupted save of {orphan['path']} was kept in the history")
        credentials = first_credentials()
        report = scan_with_progress(self)
        self.stdout.write(report.summary())
        if report.stopped:
            self.stderr.write(report.stopped)
        elif not report.pages:
            self.stderr.write(
                "There is no Markdown file in the vault. If it should not be empty, mount it or correct SYNAPSE_VAULT; "
                "if it is new, put notes into it, or the first files of a wiki with `manage.py init_vault`."
            )
        self._say_how_to_connect(host, port, credentials)
        self._serve(listener, watch=not no_watch)

    def _refuse_open_defaults(self, host: str) -> None:
        if settings.DEBUG and not is_loopback(host):
            self.fail("SYNAPSE_DEBUG is for this machine only. Unset it, or serve on 127.0.0.1.")
        if not is_loopback(host) and is_weak(settings.MCP_AUTH_TOKEN):
            self.fail(
                "MCP_AUTH_TOKEN is too short to be shown to other machines. Unset it and use `manage.py token create`, "
                "or set at least 20 random characters."
            )

    def _listen(self, host: str, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except PermissionError:
            self.fail(f"This user may not listen on port {port}. Choose one above 1023: SYNAPSE_PORT=8000 make serve")
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                self.fail(
                    f"Port {port} on {host} is in use by another program, perhaps another Synapse. "
                    f"Stop that one, or choose another port: SYNAPSE_PORT={port + 1} make serve"
                )
            self.fail(f"{host} is not an address of this machine. Set SYNAPSE_HOST to one, or leave it out.")
        except OverflowError:
            self.fail(f"{port} is not a port. Use a number from 1 to 65535; 8000 is the default.")
        return listener

    def _say_how_to_connect(self, host: str, port: int, credentials: Credentials | None) -> None:
        shown_host = f"[{host}]" if ":" in host else host
        base = f"http://{shown_host}:{port}"
        say = self.stdout.write
        if credentials:
            say("\nShown once, keep them:")
            say(f"  account   {credentials.username}")
            say(f"  password  {credentials.password}")
            if credentials.token:
                say(f"  token     {credentials.token}   (reads only; `manage.py token create` makes others)")
        token = credentials.token if credentials else ""
        command = shlex.join([sys.executable, str(settings.BASE_DIR / "manage.py"), "mcp"])
        named = " ".join(f"-e {shlex.quote(f'{name}={value}')}" for name, value in stdio_environment().items())
        writes = current_vault().writable and not settings.SYNAPSE_READ_ONLY
        say(f"\nConnect Claude, on this machine ({'reads and writes' if writes else 'reads only'}):")
        say(f"  claude mcp add synapse {named} -- {command}")
        say("or over HTTP:" if token else "or over HTTP, with a token that `manage.py token create NAME` makes:")
        header = f"Authorization: Bearer {token or '<token>'}"
        say(f'  claude mcp add --transport http synapse {base}/mcp --header "{header}"')
        say(f"\nAdmin {base}/admin/   API {base}/docs   Vault {settings.SYNAPSE_VAULT}   (Ctrl-C stops)")
        self.stdout.flush()

    def _serve(self, listener: socket.socket, *, watch: bool) -> None:
        import uvicorn

        from synapse.slow_headers import TimelyProtocol

        stop = threading.Event()
        jobs = JobThread(stop)
        enqueue("catch_up")
        jobs.start()
        LookoutThread(stop).start()
        embedding = EmbedThread(stop)
        embedding.start()
        watcher = WatchThread(stop) if watch else None
        if watcher:
            watcher.start()
        config = uvicorn.Config(
            "synapse.asgi:application",
            http=TimelyProtocol,
            log_config=None,
            access_log=False,  # a query string may hold what should not be kept
            server_header=False,
            proxy_headers=bool(settings.SYNAPSE_PUBLIC_URL),
            forwarded_allow_ips=settings.SYNAPSE_TRUSTED_PROXIES,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=65_536,
        )
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            stop.set()
            embedding.end(timeout=0)
            jobs.end(timeout=5)
            if watcher:
                watcher.join(timeout=5)
            embedding.end(timeout=3)
