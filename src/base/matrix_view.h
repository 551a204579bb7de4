// matrix_view.h: rows and columns of somebody else's array, so that a shape travels with its data.
#pragma once

#include <cstdint>
#include <span>

namespace lagoon {

/// [rows][columns], rows `stride` elements apart.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;

  MatrixView() = default;
  MatrixView(T* first, int64_t row_count, int64_t column_count) : data(first), rows(row_count), columns(column_count), stride(column_count) {}
  MatrixView(T* first, int64_t row_count, int64_t column_count, int64_t row_stride)
      : data(first), rows(row_count), columns(column_count), stride(row_stride) {}

  T* row(int64_t at) const { return data + at * stride; }
  std::span<T> row_span(int64_t at) const { return {row(at), static_cast<size_t>(columns)}; }
  operator MatrixView<const T>() const { return {data, rows, columns, stride}; }
};

}  // namespace lagoon
