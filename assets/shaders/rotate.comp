#version 450
// Rotary position embedding (Su et al. 2021) in place, in the order of rotate_half: an invocation rotates the
// pair (c, c + dk/2) of one row of one head.
layout(local_size_x_id = 0) in;

layout(std430, binding = 0) buffer YBuffer { float Y[]; };
layout(std430, binding = 1) readonly buffer CosBuffer { float cosines[]; };
layout(std430, binding = 2) readonly buffer SinBuffer { float sines[]; };
layout(std430, binding = 3) buffer FaultBuffer { uint fault[]; };

layout(push_constant) uniform Push {
    uint rows;               // rows of all heads of one batch entry
    uint T, width, y_stride; // rows of one head, dk, and the stored width of a row
    uint y_at, cos_at, sin_at, fault_slot;
    float unused;
} p;

bool finite(float v) { return (floatBitsToUint(v) & 0x7f800000u) != 0x7f800000u; }

void main() {
    const uint half_width = p.width / 2;
    const uint row = gl_GlobalInvocationID.x / half_width, c = gl_GlobalInvocationID.x % half_width;
    if (row >= p.rows)
        return;
    const uint first = p.y_at + row * p.y_stride + c, second = first + half_width;
    const uint place = row % p.T * p.width + c, cosine = p.cos_at + place, sine = p.sin_at + place;
    const float a = Y[first], b = Y[second];
    const float turned_a = a * cosines[cosine] - b * sines[sine];
    const float turned_b = b * cosines[cosine + half_width] + a * sines[sine + half_width];
    Y[first] = turned_a;
    Y[second] = turned_b;
    if (!finite(turned_a) || !finite(turned_b))
        atomicMin(fault[p.fault_slot], 0u);
}
