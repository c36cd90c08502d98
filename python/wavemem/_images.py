# SPDX-License-Identifier: MIT
"""Images, samplers and textures as arguments of a launch: texels from arrays, and their descriptors."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np

from ._errors import BadArgument
from ._library import call, c_text, ffi, lib, names, value_of
from ._surface import Surface, c_gpu

# Axes of an array, without that of the components; what the outermost one is.
_AXES = {"1d": ("width",), "1d_buffer": ("width",), "2d": ("height", "width"), "3d": ("depth", "height", "width"),
         "1d_array": ("depth", "width"), "2d_array": ("depth", "height", "width")}


@dataclass(frozen=True)
class Image:
    """An image for a kernel: an image argument of OpenCL, or for a pointer argument a surface object of HIP.

    texels: an array of shape (width,), (height, width), (depth, height, width) for 1D, 2D and 3D, (layers, width) and
    (layers, height, width) for arrays of images, each with an axis of 1, 2 or 4 components behind it or without; contiguous.
    It is copied to guest memory before the launch, and if it is writable back after it.
    geometry: "1d", "1d_buffer", "2d", "3d", "1d_array", "2d_array": enum wm_image_geometry.
    normalized: elements of integers are read as 0 to 1 or -1 to 1 (UNORM, SNORM), else as integers.
    mode: a swizzle mode ("64KB_R_X"): the image is tiled as on the product `gpu`, which must be that of the launch. None: linear.
    """

    texels: Any
    geometry: str = "2d"
    normalized: bool = False
    mode: Optional[str] = None
    gpu: Optional[str] = None

    def _type(self, array: np.ndarray) -> str:
        """The name of enum wm_image_type."""
        kind, bits = array.dtype.kind, 8 * array.dtype.itemsize
        if self.normalized:
            name = {"u": "unorm", "i": "snorm"}.get(kind, "no") + str(bits)
        else:
            name = f"{kind}{bits}"
        if name not in names("wm_image_type").values():
            raise BadArgument(f"an image cannot have {'normalized ' if self.normalized else ''}elements of {array.dtype}; expected "
                              "one of " + ", ".join(names("wm_image_type").values()))
        return name


@dataclass(frozen=True)
class Sampler:
    """A sampler argument of OpenCL, and part of a Texture.

    addressing: what coordinates outside mean, of all axes or of each: "edge", "border", "repeat", "mirror".
    linear: filters between texels, else takes the nearest. normalized: coordinates are 0 to 1, else texels.
    """

    addressing: Union[str, Sequence[str]] = "edge"
    linear: bool = False
    normalized: bool = False

    def _words(self, target: str) -> np.ndarray:
        axes = [self.addressing] * 3 if isinstance(self.addressing, str) else list(self.addressing)
        if len(axes) != 3:
            raise BadArgument(f"addressing is {self.addressing!r}; expected one or three of 'edge', 'border', 'repeat', 'mirror'")
        c = ffi.new("struct wm_sampler *")
        c.struct_size = ffi.sizeof("struct wm_sampler")
        for i, one in enumerate(axes):
            c.addressing[i] = value_of("wm_addressing", one, "addressing")
        c.linear, c.normalized = bool(self.linear), bool(self.normalized)
        words = np.zeros(lib.WM_SAMPLER_WORDS, np.uint32)
        call(lib.wm_sampler_describe, c_text(target, "target"), c, ffi.from_buffer("uint32_t[]", words))
        return words


@dataclass(frozen=True)
class Texture:
    """A texture object of HIP, for a pointer argument or one of 8 bytes: an image with its sampler."""

    image: Image
    sampler: Sampler = Sampler()


class Placed:
    """An image in guest memory, while a launch runs."""

    def __init__(self, image: Image, target: str, where: str) -> None:
        texels = np.asarray(image.texels)
        if image.geometry not in _AXES:
            raise BadArgument(f"{where}: geometry is {image.geometry!r}; expected one of {', '.join(map(repr, _AXES))}")
        axes = _AXES[image.geometry]
        shape = texels.shape
        components = shape[-1] if texels.ndim == len(axes) + 1 else 1
        if texels.ndim not in (len(axes), len(axes) + 1) or components not in (1, 2, 4) or not texels.size:
            raise BadArgument(f"{where}: the array has the shape {shape}; {image.geometry} takes ({', '.join(axes)}), with 1, 2 or 4 "
                              "components behind it or without")
        if not texels.flags.c_contiguous:
            raise BadArgument(f"{where}: the array is not contiguous in memory; pass numpy.ascontiguousarray(...) and copy back")
        self.array, self.where, self.target = texels, where, target
        self.c = c = ffi.new("struct wm_image *")
        c.struct_size = ffi.sizeof("struct wm_image")
        c.geometry = value_of("wm_image_geometry", image.geometry, "geometry")
        c.type = value_of("wm_image_type", image._type(texels), "type")
        c.components = components
        for axis, size in zip(axes, shape):
            setattr(c, axis, size)
        self.mode = c_text(image.mode, "mode")
        c.mode, c.gpu = self.mode, c_gpu(image.gpu)
        self.layout = ffi.new("struct wm_image_layout *")
        self.address = 0
        words = self._words()
        self.surface = Surface.of_image(target, words[:8], gpu=image.gpu) if image.mode is not None else None

    def _words(self) -> np.ndarray:
        words = np.zeros(lib.WM_IMAGE_WORDS, np.uint32)
        call(lib.wm_image_describe, c_text(self.target, "target"), self.c, ffi.from_buffer("uint32_t[]", words), self.layout)
        return words

    def _rows(self, memory: np.ndarray) -> np.ndarray:
        """The bytes of the texels within the image's memory, a row each: slices by rows by bytes."""
        one, itemsize = self.layout, memory.itemsize
        return np.lib.stride_tricks.as_strided(memory, (one.slices, one.rows, one.texel * self.c.width),
                                               (one.slice, one.row, itemsize))

    def put(self, native: Any) -> np.ndarray:
        """Allocates and fills the image; returns its descriptor."""
        address = ffi.new("uint64_t *")
        size, flags, name = self.layout.bytes, 0 if self.array.flags.writeable else lib.WM_READ_ONLY, c_text(self.where, "name")
        native.call(lib.wm_allocate, size, flags, name, address)
        self.address = address[0]
        if self.surface and self.address % self.layout.alignment:  # begins at a multiple of its block
            call(lib.wm_free, native.pointer, self.address)
            self.address = -(-self.address // self.layout.alignment) * self.layout.alignment
            native.call(lib.wm_allocate_at, self.address, size, flags, name)
        if self.surface:
            memory = self.surface.tile(self.array)
        else:
            memory = np.zeros(size, np.uint8)
            rows = self._rows(memory)
            rows[...] = self.array.view(np.uint8).reshape(rows.shape)
        native.call(lib.wm_write, self.address, ffi.from_buffer(memory), self.layout.bytes)
        self.c.address = self.address
        return self._words()

    def get(self, native: Any) -> None:
        """Copies the image back to its array."""
        if not self.array.flags.writeable:
            return
        memory = np.zeros(self.layout.bytes, np.uint8)
        native.call(lib.wm_read, self.address, ffi.from_buffer(memory, require_writable=True), self.layout.bytes)
        if self.surface:
            self.array[...] = self.surface.untile(memory, self.array.dtype).reshape(self.array.shape)
            return
        rows = self._rows(memory)
        self.array.view(np.uint8).reshape(rows.shape)[...] = rows


class Object:
    """What an argument of 8 bytes points to: an image, a sampler, or both."""

    def __init__(self, value: Union[Image, Sampler, Texture], target: str, where: str) -> None:
        image = value.image if isinstance(value, Texture) else value if isinstance(value, Image) else None
        sampler = value.sampler if isinstance(value, Texture) else value if isinstance(value, Sampler) else None
        self.image: Optional[Placed] = Placed(image, target, where) if image is not None else None
        self.sampler: Optional[np.ndarray] = sampler._words(target) if sampler is not None else None
        self.where = where
        self.address = 0

    def put(self, native: Any) -> int:
        """Places it in guest memory; returns its address."""
        parts = [self.image.put(native)] if self.image else []
        parts += [self.sampler] if self.sampler is not None else []
        words = np.concatenate(parts)
        address = ffi.new("uint64_t *")
        native.call(lib.wm_allocate, words.nbytes, lib.WM_READ_ONLY, c_text(self.where, "name"), address)
        self.address = address[0]
        native.call(lib.wm_write, self.address, ffi.from_buffer(words), words.nbytes)
        return self.address

    def get(self, native: Any) -> None:
        if self.image:
            self.image.get(native)

    def free(self, native: Any) -> None:
        for one in (self.image, self):
            if one is not None and one.address:
                call(lib.wm_free, native.pointer, one.address)
                one.address = 0


def takes(kind: str, value: Any) -> bool:
    """Whether an argument of this kind can be an object of this class."""
    if isinstance(value, Sampler):
        return kind == "sampler"
    if isinstance(value, Image):
        return kind in ("image", "global_buffer", "by_value")
    return isinstance(value, Texture) and kind in ("global_buffer", "by_value")


EXPECTED = {"image": "a wavemem.Image, ", "sampler": "a wavemem.Sampler, "}
