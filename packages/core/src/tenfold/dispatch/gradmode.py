"""Switches for recording gradients: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar

from tenfold.dispatch.runtime import RUNTIME, STATE, set_grad_enabled_here, set_inference_here

new = object.__new__
F = TypeVar("F", bound=Callable[..., Any])


class DecoratorContext:
    """A context manager that is also a decorator, for functions and generator functions: PyTorch's `_DecoratorContextManager`."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> Any:
        raise NotImplementedError

    def clone(self) -> Self:
        return type(self)()

    def __call__(self, function: F) -> F:
        decorated: Any = function
        if inspect.isclass(decorated):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions "
                "or methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` "
                "method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            initialise: Any = decorated.__init__
            setattr(decorated, "__init__", self(initialise))  # noqa: B010 - a class's own
            return function
        if inspect.isgeneratorfunction(function):
            made: F = self._wrap_generator(function)
            return made

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value] # the signature is the function's

    def _wrap_generator(self, function: Any) -> Any:
        """The mode holds only while the generator's own code runs, not in its consumer."""

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            step: Any = functools.partial(generator.send, None)
            while True:
                with self.clone():
                    try:
                        value = step()
                    except StopIteration as stop:
                        return stop.value
                try:
                    step = functools.partial(generator.send, (yield value))
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - whatever the consumer throws in is the generator's affair
                    step = functools.partial(generator.throw, error)

        return wrapped


class _GradMode(DecoratorContext):
    """A context in which gradients are recorded or not."""

    enabled = False
    mode: Any
    _previous: Any = None  # the mode before; pairs (mode, those before) when the object is entered again inside itself

    def __enter__(self) -> None:
        previous = STATE.grad_enabled
        self._previous = previous if self._previous is None else (previous, self._previous)
        if previous is not self.enabled:
            set_grad_enabled_here(self.enabled)

    def __exit__(self, *exc: object) -> None:
        previous = self._previous
        if type(previous) is tuple:
            previous, self._previous = previous
        else:
            self._previous = None
        if previous is not self.enabled or STATE.grad_enabled is not previous:
            set_grad_enabled_here(previous)


class no_grad(_GradMode):  # noqa: N801 - PyTorch's name
    """Do not record gradients inside.

    >>> import tenfold
    >>> with tenfold.no_grad():
    ...     tenfold.is_grad_enabled()
    False
    """

    def __new__(cls, function: Any = None) -> Self:
        made = new(cls)
        return made if function is None else made(function)  # @no_grad without parentheses


class enable_grad(_GradMode):  # noqa: N801 - PyTorch's name
    """Record gradients inside, also within `no_grad`."""

    enabled = True

    def __new__(cls, function: Any = None) -> Self:
        made = new(cls)
        return made if function is None else made(function)  # @no_grad without parentheses


class set_grad_enabled(_GradMode):  # noqa: N801 - PyTorch's name
    """Switch recording on or off, at once when called and until the end of the block when used as a context."""

    def __init__(self, mode: bool) -> None:
        self.mode = self.enabled = mode
        self._called_from = STATE.grad_enabled
        set_grad_enabled_here(mode)

    def __enter__(self) -> None:
        self._previous = self._called_from if self._previous is None else (self._called_from, self._previous)
        set_grad_enabled_here(self.enabled)

    def __call__(self, function: Any) -> Any:
        set_grad_enabled_here(self._called_from)  # as a decorator it must not act on its surroundings
        return super().__call__(function)

    def clone(self) -> Self:
        return type(self)(self.mode)


class inference_mode(_GradMode):  # noqa: N801 - PyTorch's name
    """Like `no_grad`, for code whose results never meet autograd; `is_inference_mode_enabled` tells."""

    def __new__(cls, mode: Any = True) -> Any:
        self = super().__new__(cls)
        if callable(mode):
            self.mode = True
            return self(mode)
        self.mode = mode
        return self

    def __init__(self, mode: Any = True) -> None:
        self.enabled = not self.mode

    def __enter__(self) -> None:
        super().__enter__()
        self.__dict__.setdefault("_outer", []).append(STATE.inference)
        set_inference_here(self.mode)

    def __exit__(self, *exc: object) -> None:
        set_inference_here(self.__dict__["_outer"].pop())
        super().__exit__(*exc)

    def clone(self) -> Self:
        return type(self)(self.mode)


def is_grad_enabled() -> bool:
    """Whether operators of this thread record gradients."""
    return STATE.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside `inference_mode`."""
    return STATE.inference


RUNTIME["no_grad"] = no_grad
