#version 450
// RMSNorm (Zhang and Sennrich 2019) of rows of heads in place: an invocation norms one row.
layout(local_size_x_id = 0) in;

layout(std430, binding = 0) buffer YBuffer { float Y[]; };
layout(std430, binding = 1) readonly buffer WeightBuffer { float weights[]; };
layout(std430, binding = 2) readonly buffer UnusedBuffer { float unused[]; };
layout(std430, binding = 3) buffer FaultBuffer { uint fault[]; };

layout(push_constant) uniform Push {
    uint rows;               // of all heads of one batch entry
    uint T, width, y_stride; // rows of one head, dk, and the stored width of a row
    uint y_at, weight_at, unused_at, fault_slot;
    float eps;
} p;

bool finite(float v) { return (floatBitsToUint(v) & 0x7f800000u) != 0x7f800000u; }

void main() {
    const uint row = gl_GlobalInvocationID.x;
    if (row >= p.rows)
        return;
    const uint first = p.y_at + row * p.y_stride;
    float squares = 0.0;
    for (uint c = 0; c < p.width; ++c)
        squares += Y[first + c] * Y[first + c];
    const float mean = squares / float(p.width);
    const float scale = 1.0 / sqrt(mean + p.eps);
    bool good = finite(mean);
    for (uint c = 0; c < p.width; ++c) {
        const float y = Y[first + c] * scale * weights[p.weight_at + c];
        good = good && finite(y);
        Y[first + c] = y;
    }
    if (!good)
        atomicMin(fault[p.fault_slot], 0u);
}
