"""What backs a PostgreSQL database up: the server's own programs, as command lines for one URL."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from sqlalchemy import URL


def commands(url: URL, target: str) -> Sequence[str]:
    """`pg_dump` of the database and how it is restored; the whole server and its log, for a point in time.

    No line contains the password: the programs ask for it, or read it from ~/.pgpass.
    """
    bare = url.set(drivername="postgresql").difference_update_query(["password"])._replace(password=None)
    place = shlex.quote(bare.render_as_string(hide_password=False))
    given = (("-h", bare.host), ("-p", bare.port), ("-U", bare.username))
    server = " ".join(f"{option} {shlex.quote(str(value))}" for option, value in given if value)
    programs = (
        f"pg_dump --format=custom --file={shlex.quote(target)} --dbname={place}",
        f"pg_restore --clean --if-exists --no-owner --dbname={place} {shlex.quote(target)}",
        f"pg_basebackup {server} --pgdata={shlex.quote(f'{target}.base')} --wal-method=stream --checkpoint=fast",
        f"pg_receivewal {server} --directory={shlex.quote(f'{target}.wal')} --synchronous",
    )
    return tuple(" ".join(one.split()) for one in programs)
