#version 450
// RMSNorm (Zhang and Sennrich 2019) of rows of heads in place: an invocation norms one row, or together the
// rows that all heads have for one token.
layout(local_size_x_id = 0) in;

layout(std430, binding = 0) buffer YBuffer { float Y[]; };
layout(std430, binding = 1) readonly buffer WeightBuffer { float weights[]; };
layout(std430, binding = 2) readonly buffer UnusedBuffer { float unused[]; };
layout(std430, binding = 3) buffer FaultBuffer { uint fault[]; };

layout(push_constant) uniform Push {
    uint rows;               // rows of all heads of one batch entry; of one head if heads are normalized
                             // together
    uint T, width, y_stride; // rows of one head, dk, and the stored width of a row
    uint y_at, weight_at, unused_at, fault_slot;
    float eps;
    uint joined; // heads that are normed together
} p;

bool finite(float v) { return (floatBitsToUint(v) & 0x7f800000u) != 0x7f800000u; }

void main() {
    const uint row = gl_GlobalInvocationID.x;
    if (row >= p.rows)
        return;
    const uint first = p.y_at + row * p.y_stride, head_step = p.T * p.y_stride;
    const uint count = p.joined * p.width;
    float squares = 0.0;
    for (uint n = 0; n < count; ++n) {
        const float y = Y[first + n / p.width * head_step + n % p.width];
        squares += y * y;
    }
    const float mean = squares / float(count);
    const float scale = 1.0 / sqrt(mean + p.eps);
    bool good = finite(mean);
    for (uint n = 0; n < count; ++n) {
        const uint at = first + n / p.width * head_step + n % p.width;
        const float y = Y[at] * scale * weights[p.weight_at + n];
        good = good && finite(y);
        Y[at] = y;
    }
    if (!good)
        atomicMin(fault[p.fault_slot], 0u);
}
