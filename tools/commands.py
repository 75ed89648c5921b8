"""Running a session's commands: all of them, whether the ones before failed or not, one after the other or several at once."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from nox.command import CommandFailed  # type: ignore[import-not-found]  # types are checked without nox


def each(
    session: Any, commands: dict[str, list[str]], good: Iterable[int] = (0,), at_once: int = 1, **env: dict[str, str]
) -> None:
    """Run every command, whether the ones before failed or not, then name those that failed.

    `env` gives an environment variable's value for each command's name. Of several at once each one's output stands together.
    """

    def run(name: str) -> bool:
        command, own = commands[name], {key: values[name] for key, values in env.items()}
        try:
            external = command[0] == "timeout"
            output = session.run(*command, success_codes=list(good), external=external, env=own, silent=at_once > 1)
        except CommandFailed:
            return False
        if at_once > 1:
            print(output, flush=True)
        return True

    with ThreadPoolExecutor(at_once) as pool:
        failed = [
            name for name, well in zip(commands, pool.map(run, commands) if at_once > 1 else map(run, commands)) if not well
        ]
    if failed:
        session.error(f"failed: {', '.join(failed)}")
