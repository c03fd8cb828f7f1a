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
    allowed_host : answer to this name, too, such as that of a proxy
    proxy : address or network of a web server before this one, which is believed for whom it asks and whether
        that is encrypted (X-Forwarded-For, X-Forwarded-Proto)
    certificate : certificate (PEM) for encrypted connections, with --key
    key : private key (PEM) of the certificate
    """

    allowed_host: Annotated[Sequence[str], Option(NETWORK, kind=str, is_many=True, metavar="NAME")] = ()
    proxy: Annotated[
        Sequence[str],
        Option(NETWORK, kind=str, is_many=True, metavar="ADDRESS", usual="nobody is believed"),
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
        raise ImportError(f"{error.name} is not installed; pip install 'tagrank[desk]' brings it") from None


def check_encryption(certificate: Path | None, key: Path | None, host: str) -> bool:
    """Whether connections are encrypted; says so where others could read along."""
    if (certificate is None) != (key is None):
        raise typer.BadParameter("--certificate and --key belong together; give both")
    for path in (certificate, key):
        if path is not None and not path.is_file():
            raise typer.BadParameter(f"{path} is no file; a PEM file was expected")
    if certificate is None and not is_local(host):
        say(
            "warning: connections are not encrypted: whoever shares the network can read passwords, tokens "
            "and pictures; --certificate FILE --key FILE encrypts them"
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
                f"--proxy {text[:60]} is no address; one such as 127.0.0.1 or 10.0.0.0/8 was expected"
            ) from None
        if network.prefixlen == 0:
            raise typer.BadParameter(f"--proxy {text} would believe everybody; name the address of a server")
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
