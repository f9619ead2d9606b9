// How arrays pass between NumPy and the core without being copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace treemean {

template <typename T>
using Column = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <typename T>
std::span<const T> span_of(const Column<T>& column) {
  return {column.data(), column.size()};
}

template <typename T>
auto to_numpy(std::vector<T>&& values) {
  using Owner = std::unique_ptr<std::vector<T>>;
  Owner owned = std::make_unique<std::vector<T>>(std::move(values));
  const nanobind::capsule capsule(owned.get(),
                                  [](void* p) noexcept { Owner(static_cast<std::vector<T>*>(p)); });
  std::vector<T>& kept = *owned.release();  // the capsule owns it from here on
  return nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(kept.data(), {kept.size()}, capsule);
}

}  // namespace treemean
