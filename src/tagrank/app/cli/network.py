"""How the commands that serve are reached, and what is said about it."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tagrank.app.cli.console import say
from tagrank.options import Option

NETWORK = "Network"
LOCAL = "127.0.0.1"


@dataclass(frozen=True)
class Network:
    """How a server is reached.

    Parameters
    ----------
    allowed_host : also answer requests to this host name, such as that of a proxy
    proxy : trust the X-Forwarded-For and X-Forwarded-Proto headers of the reverse proxy at this address or in
        this network
    certificate : certificate (PEM) for encrypted connections, together with --key
    key : private key (PEM) of the certificate
    """

    allowed_host: Annotated[Sequence[str], Option(NETWORK, kind=str, is_many=True, metavar="NAME")] = ()
    proxy: Annotated[
        Sequence[str],
        Option(NETWORK, kind=str, is_many=True, metavar="ADDRESS", usual="trust none"),
    ] = ()
    certificate: Annotated[Path | None, Option(NETWORK, metavar="FILE")] = None
    key: Annotated[Path | None, Option(NETWORK, metavar="FILE")] = None


def need_web() -> None:
    """Raise in a sentence where the packages of the extra are missing."""
    try:
        import fastapi  # noqa: F401
        import multipart  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{error.name} is not installed; install it with: pip install 'tagrank[desk]'"
        ) from None


def check_encryption(certificate: Path | None, key: Path | None, host: str) -> bool:
    """Whether connections are encrypted; says so where others could read along."""
    if (certificate is None) != (key is None):
        raise typer.BadParameter("--certificate and --key must be used together; add the other one")
    for path in (certificate, key):
        if path is not None and not path.is_file():
            raise typer.BadParameter(f"expected a PEM file, but {path} is not a file")
    if certificate is None and not is_local(host):
        say(
            "warning: connections are not encrypted: others on the network can read passwords, tokens and "
            "pictures; encrypt them with --certificate FILE --key FILE"
        )
    return certificate is not None


def check_proxies(texts: Sequence[str]) -> list[str]:
    """Networks of web servers that are believed, also as they look to a server for both versions of IP."""
    proxies = []
    for text in texts:
        try:
            network = ipaddress.ip_network(text)
        except ValueError:
            raise typer.BadParameter(
                f"--proxy {text[:60]} is not an address; expected an address such as 127.0.0.1 or 10.0.0.0/8"
            ) from None
        if network.prefixlen == 0:
            raise typer.BadParameter(f"--proxy {text} would trust everyone; name the address of one server")
        proxies.append(str(network))
        if network.version == 4:
            proxies.append(f"::ffff:{network.network_address}/{96 + network.prefixlen}")
    return proxies


def is_local(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
