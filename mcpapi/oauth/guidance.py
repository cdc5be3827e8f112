"""What a client that is not registered is told: how it becomes one."""

from __future__ import annotations

from mcpapi.oauth.addresses import registration_endpoint


def how_to_register(own: str, *, proved: bool = False) -> dict[str, str]:
    """The fields of an ``invalid_client`` answer of the issuer ``own``; ``proved`` where clients prove who they are."""
    endpoint = registration_endpoint(own)
    secret = ", or did not send the secret that it registered with" if proved else ""
    return {
        "error_description": (
            f"This client is not known here{secret}. Register it first: POST its metadata with redirect_uris as JSON "
            f"to {endpoint} (RFC 7591) and use the client_id of the answer, or use the https address of a client-id "
            "metadata document whose host the operator has listed in SYNAPSE_OAUTH_CLIENT_HOSTS."
        ),
        "registration_endpoint": endpoint,
    }
