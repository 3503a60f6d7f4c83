#include "core/tensor/dims.h"

#include "core/base/in_order.h"
#include "core/base/joined.h"

#include <algorithm>
#include <array>

namespace headscope {

namespace {

constexpr std::array axis_rows{AxisRow{Axis::none, "", nullptr, nullptr},
                               AxisRow{Axis::B, "B", &Dims::B, nullptr},
                               AxisRow{Axis::Tq, "Tq", &Dims::Tq, nullptr},
                               AxisRow{Axis::Tk, "Tk", &Dims::Tk, nullptr},
                               AxisRow{Axis::D, "D", &Dims::D, nullptr},
                               AxisRow{Axis::Dq, "Dq", &Dims::Dq, nullptr},
                               AxisRow{Axis::Dkv, "Dkv", &Dims::Dkv, nullptr},
                               AxisRow{Axis::H, "H", &Dims::H, nullptr},
                               AxisRow{Axis::Hkv, "Hkv", &Dims::Hkv, nullptr},
                               AxisRow{Axis::dk, "dk", &Dims::dk, nullptr},
                               AxisRow{Axis::dv, "dv", &Dims::dv, nullptr},
                               AxisRow{Axis::H_dk, "H·dk", &Dims::H, &Dims::dk},
                               AxisRow{Axis::Hkv_dk, "Hkv·dk", &Dims::Hkv, &Dims::dk},
                               AxisRow{Axis::Hkv_dv, "Hkv·dv", &Dims::Hkv, &Dims::dv},
                               AxisRow{Axis::H_dv, "H·dv", &Dims::H, &Dims::dv},
                               AxisRow{Axis::d_ff, "d_ff", &Dims::d_ff, nullptr},
                               AxisRow{Axis::d_expert, "d_expert", &Dims::d_expert, nullptr},
                               AxisRow{Axis::experts, "experts", &Dims::experts, nullptr},
                               AxisRow{Axis::vocab, "vocab", &Dims::vocab, nullptr},
                               AxisRow{Axis::positions, "positions", &Dims::positions, nullptr},
                               AxisRow{Axis::token_types, "token_types", &Dims::token_types, nullptr},
                               AxisRow{Axis::d_embed, "D", &Dims::d_embed, nullptr},
                               AxisRow{Axis::delta_H, "H", &Dims::delta_H, nullptr},
                               AxisRow{Axis::delta_Hqk, "Hqk", &Dims::delta_Hqk, nullptr},
                               AxisRow{Axis::delta_dk, "dk", &Dims::delta_dk, nullptr},
                               AxisRow{Axis::delta_dv, "dv", &Dims::delta_dv, nullptr},
                               AxisRow{Axis::delta_Hqk_dk, "Hqk·dk", &Dims::delta_Hqk, &Dims::delta_dk},
                               AxisRow{Axis::delta_H_dv, "H·dv", &Dims::delta_H, &Dims::delta_dv},
                               AxisRow{Axis::distances, "distances", &Dims::distances, nullptr}};
static_assert(axis_rows.size() == axis_count && is_in_enum_order(axis_rows, &AxisRow::axis));

/// Dq stands for D where both are the same.
Axis own_axis(Axis axis, const Dims& dims) {
    return axis == Axis::Dq && dims.Dq == 0 ? Axis::D : axis;
}

} // namespace

const AxisRow& axis_row(Axis axis) {
    return axis_rows[static_cast<std::size_t>(axis)];
}

std::string axis_name(Axis axis, const Dims& dims) {
    return std::string(axis_row(own_axis(axis, dims)).name);
}

std::string axis_names(std::span<const Axis> axes, const Dims& dims) {
    return joined(std::span(axes.begin(), std::ranges::find(axes, Axis::none)),
                  [&](Axis axis) { return axis_name(axis, dims); });
}

std::int64_t extent(Axis axis, const Dims& dims) {
    const AxisRow& row = axis_row(own_axis(axis, dims));
    return (row.size == nullptr ? 1 : dims.*row.size) * (row.times == nullptr ? 1 : dims.*row.times);
}

} // namespace headscope
