#version 450
#extension GL_GOOGLE_include_directive : require
// Combines the runs of a row to the row's softmax: its largest masked score, and the sum of exp(score -
// largest) over all its keys. Some invocations share the runs of a row.
#include "attention.glsl"
#include "runs.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint threads = 64;
layout(constant_id = 2) const uint lanes = 16; // invocations of a row
layout(std430, binding = 6) readonly buffer RunBuffer { vec2 runs[]; };
shared vec2 parts[threads];

void main() {
    const uint me = gl_LocalInvocationID.x, lane = me % lanes;
    const uint row = gl_WorkGroupID.x * (threads / lanes) + me / lanes;
    const uint end = row < p.rows ? runs_in_sight() : 0;
    float largest = minus_infinity;
    for (uint run = lane; run < end; run += lanes)
        largest = max(largest, runs[run * p.rows + row].x);
    precise float total = 0.0, lost = 0.0;
    for (uint run = lane; run < end; run += lanes) {
        const vec2 one = runs[run * p.rows + row];
        if (one.y > 0.0)
            add_exactly(total, lost, one.y * exp(one.x - largest));
    }
    parts[me] = vec2(largest, total + lost);
    barrier();
    if (row >= p.rows || lane > 0)
        return;
    for (uint i = 1; i < lanes; ++i)
        largest = max(largest, parts[me + i].x);
    total = lost = 0.0;
    if ((p.flags & has_sink) != 0 && !is_minus_infinity(largest)) {
        const float sink = uintBitsToFloat(p.extra[6]);
        largest = max(largest, sink);
        total = exp(sink - largest);
    }
    for (uint i = 0; i < lanes; ++i) {
        const vec2 one = parts[me + i];
        if (one.y > 0.0)
            add_exactly(total, lost, one.y * exp(one.x - largest));
    }
    statistics[p.statistics_at + row] = vec2(largest, total + lost);
}
