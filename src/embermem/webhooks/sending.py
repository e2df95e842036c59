"""One request to a receiver: to public addresses and those that are allowed, no redirect, within a time."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from embermem.core.errors import ConfigError, InputError

LONGEST_URL = 2000
MOST_ADDRESSES = 4
"""Addresses of one host that are tried."""
_PORTS = {"https": 443, "http": 80}
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class NotSent(Exception):
    """A request that no receiver took; the text says why, and holds nothing of an answer. `final`: the receiver wants
    no more."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowed:
    """Hosts and networks that may be reached although they are not public, and over plain HTTP."""

    hosts: frozenset[str]
    networks: tuple[_Network, ...]

    @classmethod
    def parsed(cls, given: str) -> Allowed:
        """From the setting `webhook_hosts`. Raises ConfigError."""
        hosts, networks = set[str](), list[_Network]()
        for one in filter(None, (part.strip() for part in given.split(","))):
            try:
                networks.append(ipaddress.ip_network(one))
            except ValueError:
                if "/" in one or ":" in one or not one.isascii():
                    raise ConfigError(
                        f"webhook_hosts: {one!r} is neither a host nor a network; give names such as "
                        "receiver.internal, addresses, or networks such as 10.0.0.0/8"
                    ) from None
                hosts.add(one.lower())
        return cls(hosts=frozenset(hosts), networks=tuple(networks))

    def address(self, host: str, address: _Address) -> bool:
        """Whether an address of a host may be reached."""
        return _public(address) or self.inside(host, address)

    def inside(self, host: str, address: _Address) -> bool:
        """Whether the operator named the host or the address."""
        plain = getattr(address, "ipv4_mapped", None) or address
        return host in self.hosts or any(plain in network for network in self.networks)


def checked_url(url: str, allowed: Allowed) -> str:
    """An address that a webhook may have. Names are resolved only when something is sent. Raises InputError."""
    parts = _parts(url)
    literal = _literal(parts.hostname or "")
    if literal is not None and not allowed.address(parts.hostname or "", literal):
        raise InputError(f"url: {parts.hostname} is not a public address; the setting webhook_hosts allows others")
    named = (parts.hostname or "") in allowed.hosts or (literal is not None and allowed.inside("", literal))
    if parts.scheme == "http" and not named:
        raise InputError(
            "url must begin with https://; the setting webhook_hosts allows http:// for the hosts it names"
        )
    return url


def send(url: str, headers: Mapping[str, str], body: bytes, *, allowed: Allowed, timeout_s: float) -> None:
    """POST a body. Raises NotSent unless the receiver answers with a status 2xx within the time. Redirects are not
    followed, and the body of the answer is not read."""
    parts = _parts(url)
    host = parts.hostname or ""
    connection = _Connection(host, parts.port or _PORTS[parts.scheme], timeout_s, secure=parts.scheme == "https")
    connection.addresses = _addresses(host, connection.port, allowed)
    if parts.scheme == "http" and not all(allowed.inside(host, one) for one in connection.addresses):
        raise NotSent("refused: plain http to a host that webhook_hosts does not name")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    last = threading.Timer(timeout_s, connection.cut)  # a receiver that sends a byte now and then is not waited for
    last.daemon = True
    last.start()
    try:
        connection.request("POST", target, body=body, headers=dict(headers))
        status = connection.getresponse().status
    except TimeoutError as error:
        raise NotSent("no answer in time") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotSent("no answer in time" if connection.late else f"no answer: {type(error).__name__}") from error
    finally:
        last.cancel()
        connection.close()
    if not 200 <= status < 300:
        raise NotSent(f"status {status}", final=status == http.client.GONE)


class _Connection(http.client.HTTPConnection):
    """Connects to addresses that were looked at before, and to no others: the name is not resolved again."""

    def __init__(self, host: str, port: int, timeout_s: float, *, secure: bool) -> None:
        super().__init__(host, port, timeout=timeout_s)
        self.addresses: Sequence[_Address] = ()
        self.late = False
        self._secure = secure

    def connect(self) -> None:
        """To the first address that answers."""
        failure: OSError = OSError("no address")
        for address in self.addresses:
            try:
                self.sock = socket.create_connection((str(address), self.port), self.timeout)
                break
            except OSError as error:
                failure = error
        else:
            raise failure
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

    def cut(self) -> None:
        """End it from another thread."""
        self.late = True
        with suppress(OSError, AttributeError):
            self.sock.shutdown(socket.SHUT_RDWR)


def _parts(url: str) -> SplitResult:
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(f"url must be printable ASCII of at most {LONGEST_URL} characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InputError("url is not an address such as https://example.com/ember") from error
    if parts.scheme not in _PORTS or not parts.hostname or port == 0:
        raise InputError("url is not an address such as https://example.com/ember")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InputError("url must have no user, password or fragment")
    return parts


def _literal(host: str) -> _Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _addresses(host: str, port: int, allowed: Allowed) -> Sequence[_Address]:
    """The addresses of a host. Raises NotSent unless all of them may be reached."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotSent("the host's name cannot be resolved") from error
    addresses = [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]
    if not addresses or not all(allowed.address(host, one) for one in addresses):
        raise NotSent("refused: the host has an address that is not public and that webhook_hosts does not name")
    return list(dict.fromkeys(addresses))[:MOST_ADDRESSES]


def _public(address: _Address) -> bool:
    """Whether an address is assigned to a host of the internet. One that embeds an IPv4 address counts as that one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return _public(address.ipv4_mapped)
        if address in _NAT64:
            return _public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _UNICAST:
            return False
    return not any(address in block for block in _SPECIAL)


# What Python's `ipaddress` knows of these blocks differs between its versions, so they are listed here.
_UNICAST = ipaddress.ip_network("2000::/3")
"""Global unicast: all IPv6 addresses outside it are reserved, local or multicast."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 addresses as DNS64 gives them to hosts that have IPv6 only (RFC 6052)."""
_SPECIAL: Sequence[_Network] = tuple(
    ipaddress.ip_network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
)
"""All blocks of IANA's special-purpose registries (RFC 6890) in IPv4 and in global unicast, and multicast. Anycast
blocks are among them although they can be reached: the nearest gateway answers there, and never a receiver."""
