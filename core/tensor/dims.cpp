#include "core/tensor/dims.h"

namespace headscope {

std::int64_t extent(Axis axis, const Dims& dims) {
    switch (axis) {
    case Axis::none:
        return 1;
    case Axis::B:
        return dims.B;
    case Axis::Tq:
        return dims.Tq;
    case Axis::Tk:
        return dims.Tk;
    case Axis::D:
        return dims.D;
    case Axis::Dkv:
        return dims.Dkv;
    case Axis::H:
        return dims.H;
    case Axis::Hkv:
        return dims.Hkv;
    case Axis::dk:
        return dims.dk;
    case Axis::dv:
        return dims.dv;
    case Axis::H_dk:
        return dims.H * dims.dk;
    case Axis::Hkv_dk:
        return dims.Hkv * dims.dk;
    case Axis::Hkv_dv:
        return dims.Hkv * dims.dv;
    case Axis::H_dv:
        return dims.H * dims.dv;
    case Axis::d_ff:
        return dims.d_ff;
    case Axis::vocab:
        return dims.vocab;
    case Axis::positions:
        return dims.positions;
    case Axis::token_types:
        return dims.token_types;
    case Axis::experts:
        return dims.experts;
    }
    return 0;
}

std::string axis_name(Axis axis) {
    switch (axis) {
    case Axis::none:
        return "";
    case Axis::B:
        return "B";
    case Axis::Tq:
        return "Tq";
    case Axis::Tk:
        return "Tk";
    case Axis::D:
        return "D";
    case Axis::Dkv:
        return "Dkv";
    case Axis::H:
        return "H";
    case Axis::Hkv:
        return "Hkv";
    case Axis::dk:
        return "dk";
    case Axis::dv:
        return "dv";
    case Axis::H_dk:
        return "H·dk";
    case Axis::Hkv_dk:
        return "Hkv·dk";
    case Axis::Hkv_dv:
        return "Hkv·dv";
    case Axis::H_dv:
        return "H·dv";
    case Axis::d_ff:
        return "d_ff";
    case Axis::experts:
        return "experts";
    case Axis::vocab:
        return "vocab";
    case Axis::positions:
        return "positions";
    case Axis::token_types:
        return "token_types";
    }
    return "";
}

} // namespace headscope
