#version 450
#extension GL_GOOGLE_include_directive : require
// Computes scores, softmax and value sum of one query row per invocation in one pass over the keys, without
// memory of size Tq x Tk. The running maximum and sum are those of Milakov and Gimelshein 2018, "Online
// normalizer calculation for softmax". Values wider than `out_quads` vec4 need several dispatches, each for
// its own columns.
#include "attention.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint q_quads = 16;  // vec4 of a query, held in registers
layout(constant_id = 2) const uint out_quads = 16; // vec4 of the value sum in one dispatch
// Number of keys in shared memory at a time, a multiple of 4. 0: no shared memory, and loops that are not
// unrolled, which suits software devices and heads too wide for registers.
layout(constant_id = 3) const uint key_tile = 4;
layout(constant_id = 4) const uint threads = 64;

layout(std430, binding = 6) readonly buffer VBuffer { vec4 V[]; };
layout(std430, binding = 7) buffer OutBuffer { float head_out[]; };
layout(std430, binding = 8) buffer ConcatBuffer { float concat[]; };
// The head gains of all heads, and after them their sinks.
layout(std430, binding = 9) readonly buffer GainBuffer { float gain[]; };

const bool share = key_tile > 0;
const uint q_held = share ? q_quads : 1;
const uint step_keys = share ? key_tile : 1;
const uint keys_at_once = share ? 4 : 1;
shared vec4 k_tile[share ? key_tile * q_quads : 1];
shared vec4 v_tile[share ? key_tile * out_quads : 1];

void main() {
    const uint v_at = p.extra[0], v_from = p.extra[1], v_quads = p.extra[2], dv = p.extra[3];
    const uint out_at = p.extra[4], concat_at = p.extra[5];
    const uint row = gl_GlobalInvocationID.x, head = gl_WorkGroupID.y, b = gl_WorkGroupID.z;
    const uint me = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * threads;
    const bool real = row < p.rows;
    const uint safe_row = min(row, p.rows - 1);
    const uint q0 = q_base(b, head) + safe_row * p.quads, k0 = k_base(b, head);
    const uint v0 = v_at + (b * (p.H / p.heads_per_group) + group_of(head)) * p.Tk * v_quads + v_from;
    const uint left = min(out_quads, v_quads - v_from), held = share ? out_quads : left;

    vec4 q[q_held];
    if (share)
        for (uint c = 0; c < q_quads; ++c)
            q[c] = Q[q0 + c];
    vec4 sum[out_quads];
    for (uint c = 0; c < held; ++c)
        sum[c] = vec4(0.0);
    float largest = minus_infinity, total = 0.0;
    uint worst = 255;

    // The range of a row moves with the row: the first and the last row of the workgroup bound all ranges.
    const ivec2 range = reach(safe_row);
    const uint begin = uint(reach(first).x) / 4 * 4, end = uint(reach(min(first + threads, p.rows) - 1).y);
    for (uint tile = begin; tile < end; tile += step_keys) {
        if (share) {
            for (uint at = me; at < key_tile * q_quads; at += threads)
                k_tile[at] = K[k0 + min(tile + at / q_quads, p.Tk - 1) * q_quads + at % q_quads];
            for (uint at = me; at < key_tile * out_quads; at += threads)
                v_tile[at] = at % out_quads < left
                                 ? V[v0 + min(tile + at / out_quads, p.Tk - 1) * v_quads + at % out_quads]
                                 : vec4(0.0);
            barrier();
        }
        for (uint j = 0; j < step_keys && tile + j < end; j += keys_at_once) {
            float s[4];
            for (uint i = 0; i < keys_at_once; ++i)
                s[i] = 0.0;
            if (share) {
                for (uint c = 0; c < q_quads; ++c)
                    for (uint i = 0; i < keys_at_once; ++i)
                        s[i] = add_products(s[i], q[c], k_tile[(j + i) * q_quads + c]);
            } else {
                for (uint c = 0; c < p.quads; ++c)
                    for (uint i = 0; i < keys_at_once; ++i)
                        s[i] = add_products(s[i], Q[q0 + c], K[k0 + min(tile + j + i, p.Tk - 1) * p.quads + c]);
            }
            for (uint i = 0; i < keys_at_once; ++i) {
                const uint key = tile + j + i;
                if (key >= p.Tk)
                    break;
                const float scaled = scaled_score(s[i]);
                const float score = masked_score(scaled, b, head, safe_row, key, range);
                if (is_minus_infinity(score))
                    continue;
                if (!finite(s[i]))
                    worst = min(worst, fault_score);
                else if (!finite(scaled))
                    worst = min(worst, fault_scaled);
                else if (!finite(score))
                    worst = min(worst, fault_masked);
                if (is_minus_infinity(largest) || score > largest) {
                    const float shrink = is_minus_infinity(largest) ? 0.0 : exp(largest - score);
                    total *= shrink;
                    for (uint c = 0; c < held; ++c)
                        sum[c] *= shrink;
                    largest = score;
                }
                const float weight = exp(score - largest);
                total += weight;
                for (uint c = 0; c < held; ++c)
                    sum[c] += weight * (share ? v_tile[(j + i) * out_quads + c] : V[v0 + key * v_quads + c]);
            }
        }
        if (share)
            barrier();
    }
    if (!real)
        return;
    if ((p.flags & has_sink) != 0 && total > 0.0) {
        const float sink = gain[p.H + p.first_head + head], before = largest;
        largest = max(largest, sink);
        const float shrink = exp(before - largest);
        total = total * shrink + exp(sink - largest);
        for (uint c = 0; c < held; ++c)
            sum[c] *= shrink;
    }
    if (v_from == 0)
        statistics[p.statistics_at + (b * p.H + head) * p.Tq + row] = vec2(largest, total);
    if (worst < 255) {
        atomicMin(fault[worst], row_number(b, head, row));
        return;
    }
    const float gained = gain[p.first_head + head];
    const uint columns = min(4 * left, dv - 4 * v_from);
    const uint out0 = out_at + ((b * p.H + head) * p.Tq + row) * dv + 4 * v_from;
    const uint concat0 = concat_at + ((b * p.Tq + row) * p.H + head) * dv + 4 * v_from;
    for (uint c = 0; c < columns; ++c) {
        const float v = total > 0.0 ? sum[c / 4][c % 4] / total : 0.0;
        head_out[out0 + c] = v;
        concat[concat0 + c] = v * gained;
        if (!finite(v * gained))
            atomicMin(fault[fault_value], row_number(b, head, row));
    }
}
