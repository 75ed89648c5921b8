"""What tenfold-optim registers: its optimizers and schedulers by name."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_optimizers() -> dict[str, str]:
    from tenfold import optim

    public = {name: getattr(optim, name) for name in optim.__all__}
    chosen = [n for n, item in public.items() if isinstance(item, type) and issubclass(item, optim.Optimizer)]
    return {name: f"tenfold.optim:{name}" for name in chosen if name != "Optimizer"}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_schedulers() -> dict[str, str]:
    from tenfold.optim import lr_scheduler

    return {
        name: f"tenfold.optim.lr_scheduler:{name}"
        for name in lr_scheduler.__all__
        if name.endswith(("LR", "Restarts", "Plateau"))
    }
