"""The one place that knows numba: compilation, a cache that notices edits, and calls through addresses.

`TABLETOP_ENVS_JIT` chooses the mode of a process before the package is imported:

* `on` (default): compiled, kept in a cache;
* `checked`: compiled with bounds checks and strict division, kept apart from the unchecked code;
* `off`: plain Python, for debugging, coverage and the search for overflows.

numba's own cache key knows the file of a function, but not the tables and helpers which that function takes from
other files. So the cache folder is salted by a digest of `core/` and of the folder in which the function stands: an
edit anywhere in a game's folder compiles that game anew, and only that game. Where no cache folder can be written
(`TABLETOP_ENVS_CACHE` names another one), code is compiled in memory, once a process.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import platformdirs

MODES = ("on", "checked", "off")
MODE = os.environ.get("TABLETOP_ENVS_JIT", "on").lower()
if MODE not in MODES:
    raise ValueError(f"TABLETOP_ENVS_JIT={MODE!r} is not a mode: set it to one of {', '.join(MODES)}")
COMPILED = MODE != "off"

_STALE_AFTER = 60 * 24 * 3600  # seconds; code of a digest unused for so long is removed
_OWN_FOLDER = re.compile(rf"[0-9a-f]{{16}}-({'|'.join(MODES)})")  # nothing else in the root is touched

if COMPILED:
    import numba
    from numba.core import cgutils, types
    from numba.core import config as numba_config
    from numba.core.registry import CPUDispatcher
    from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])


def cache_root() -> Path:
    """The folder that holds compiled code, one subfolder a digest."""
    return Path(os.environ.get("TABLETOP_ENVS_CACHE") or platformdirs.user_cache_dir("tabletop_envs"))


@cache
def source_digest(*folders: Path) -> str:
    """16 hex digits over the Python sources that lie directly in the folders, names and contents."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def _cache_folder(folder: Path) -> Path | None:
    """The writable cache folder for functions of `folder`; None where there is none."""
    core = Path(__file__).parent
    folders = (core,) if folder == core else (core, folder)
    target = cache_root() / f"{source_digest(*folders)}-{MODE}"
    try:
        fresh = not target.exists()
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target):
            pass
        os.utime(target)
        if fresh:
            _remove_stale(target.parent)
    except OSError:
        return None
    return target


def _remove_stale(root: Path) -> None:
    oldest = time.time() - _STALE_AFTER
    for entry in root.iterdir():
        if _OWN_FOLDER.fullmatch(entry.name) and entry.is_dir() and entry.stat().st_mtime < oldest:
            shutil.rmtree(entry, ignore_errors=True)


def _keep(dispatcher: Any, subfolder: str) -> None:
    folder = _cache_folder(Path(dispatcher.py_func.__code__.co_filename).resolve().parent)
    if folder is None:
        return
    before = numba_config.CACHE_DIR  # type: ignore[attr-defined]
    numba_config.CACHE_DIR = str(folder / subfolder)  # type: ignore[attr-defined]
    try:
        dispatcher.enable_caching()
    except (OSError, RuntimeError):
        pass  # no cache can be written: this process compiles for itself
    finally:
        numba_config.CACHE_DIR = before  # type: ignore[attr-defined]


if COMPILED:

    class _Function(CPUDispatcher):
        """A compiled function in two forms, each made when it is first needed: for calls from Python, and `inner`.

        Compiled code calls `inner`, which takes every whole number as int64: else a function would be compiled anew
        for each width of a field, each constant and each enumeration that some caller passes. It has no wrapper that
        takes Python's objects, which costs as much to compile as a short function.
        """

        @cached_property
        def inner(self) -> Any:
            inner = CPUDispatcher(self.py_func, targetoptions={**self.targetoptions, "no_cpython_wrapper": True})
            _keep(inner, "inner")
            return inner

        def get_call_template(self, args: Any, kws: Any) -> Any:
            _, types_of_all = self.fold_argument_types(args, kws)
            return self.inner.get_call_template(tuple(_widened(a) for a in types_of_all), {})

        def get_overload(self, sig: Any) -> Any:
            return self.inner.get_overload(sig)

        @property
        def nopython_signatures(self) -> Any:
            return self.inner.nopython_signatures

        @property
        def is_compiling(self) -> Any:
            return super().is_compiling or self.inner.is_compiling


def _widened(argument: Any) -> Any:
    kind = argument.literal_type if isinstance(argument, types.Literal) else argument
    return types.int64 if isinstance(kind, (types.Integer, types.IntEnumMember)) else kind


def jit(function: Function, *, nogil: bool = False) -> Function:
    """Compile `function` on its first call, with the salted cache. `nogil` is for loops over batches."""
    if not COMPILED:
        return function
    checked = MODE == "checked"
    options = {
        "nopython": True,
        "boundscheck": checked,
        "nogil": nogil,
        "error_model": "python" if checked else "numpy",
        "no_cfunc_wrapper": True,
    }
    dispatcher = _Function(function, targetoptions=options)
    _keep(dispatcher, "outer")
    return cast(Function, dispatcher)


def jit_nogil(function: Function) -> Function:
    """`jit` for loops over batches: other Python threads run meanwhile."""
    return jit(function, nogil=True)


# --- types and addresses ---------------------------------------------------------------------------------------


def record_type(dtype: Any) -> Any:
    """numba's type of one element of a structured array."""
    return numba.from_dtype(dtype) if COMPILED else None


def bind(function: Any, returns: str, arguments: tuple[Any, ...]) -> Any:
    """Compile `function` for a fixed signature and return its address; the function itself with the JIT off.

    `arguments` holds numba record types and the names `int`, `mask` (int8 vector), `ints` (int32 vector) and
    `floats` (float32 vector); `returns` is `none` or `int`.
    """
    if not COMPILED:
        return function
    named = {
        "int": types.int64,
        "mask": types.Array(types.int8, 1, "C"),
        "ints": types.Array(types.int32, 1, "C"),
        "floats": types.Array(types.float32, 1, "C"),
        "none": types.none,
    }
    parameters = tuple(named[a] if isinstance(a, str) else a for a in arguments)
    function.inner.compile(named[returns](*parameters))
    compiled = function.inner.overloads[parameters]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def pointer_call(arguments: int, returns: str) -> Any:
    """A function `call(address, *arguments)` that compiled code uses to call what `bind` returned.

    Exceptions propagate as from a direct call. With the JIT off an address is the Python function.
    """
    if not COMPILED:
        return lambda function, *values: function(*values)
    result = types.int64 if returns == "int" else types.none

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        argument_types = signature.args[1:]
        function_type = context.call_conv.get_function_type(result, argument_types)
        pointer = builder.inttoptr(values[0], function_type.as_pointer())
        status, value = context.call_conv.call_function(builder, pointer, result, argument_types, values[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value() if returns == "none" else value

    if arguments == 1:

        @intrinsic
        def call_1(typingctx, address, a):
            return result(types.int64, a), generate

        return call_1
    if arguments == 2:

        @intrinsic
        def call_2(typingctx, address, a, b):
            return result(types.int64, a, b), generate

        return call_2

    @intrinsic
    def call_3(typingctx, address, a, b, c):
        return result(types.int64, a, b, c), generate

    return call_3
