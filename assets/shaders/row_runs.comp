#version 450
#extension GL_GOOGLE_include_directive : require
// Reads some keys of every row once, in runs of a pixel each or of a part of one: for every row and run the
// largest masked score and the sum of exp(score - largest), without memory of size Tq x Tk. An invocation
// reads several runs of one row, one after another. The running maximum and sum are those of Milakov and
// Gimelshein 2018, "Online normalizer calculation for softmax".
#include "attention.glsl"
#include "runs.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint q_quads = 16; // vec4 of a query, held in registers
layout(constant_id = 2) const uint key_tile = 4; // as in attend.comp
layout(constant_id = 3) const uint threads = 64;

layout(std430, binding = 6) writeonly buffer RunBuffer { vec2 result[]; };

const bool share = key_tile > 0;
const uint q_held = share ? q_quads : 1;
const uint keys_at_once = 4; // for each number of the query that is read
const uint step_keys = share ? key_tile : keys_at_once;
shared vec4 k_tile[share ? key_tile * q_quads : 1];

void main() {
    const uint row = gl_GlobalInvocationID.x, me = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * threads;
    const bool real = row < p.rows;
    const uint safe_row = min(row, p.rows - 1);
    const uint q0 = q_base(0, 0) + safe_row * p.quads, k0 = k_base(0, 0);
    const uint each = p.extra[6], run_end = min((gl_WorkGroupID.y + 1) * each, runs_in_sight());
    uint run = gl_WorkGroupID.y * each;

    vec4 q[q_held];
    if (share)
        for (uint c = 0; c < q_quads; ++c)
            q[c] = Q[q0 + c];
    float largest = minus_infinity;
    precise float total = 0.0, lost = 0.0; // the part of the sum that rounding lost
    uint worst = 255, next = key_behind(run);

    // The range of a row moves with the row: the first and the last row of the workgroup bound all ranges.
    const ivec2 range = reach(safe_row);
    const uint begin = max(first_key_of(run), uint(reach(first).x));
    const uint end = min(key_behind(run_end - 1), uint(reach(min(first + threads, p.rows) - 1).y));
    for (uint tile = begin; tile < end; tile += step_keys) {
        if (share) {
            for (uint at = me; at < key_tile * q_quads; at += threads)
                k_tile[at] = K[k0 + min(tile + at / q_quads, p.Tk - 1) * q_quads + at % q_quads];
            barrier();
        }
        for (uint j = 0; j < step_keys && tile + j < end; j += keys_at_once) {
            float s[keys_at_once];
            for (uint i = 0; i < keys_at_once; ++i)
                s[i] = 0.0;
            if (share) {
                for (uint c = 0; c < q_quads; ++c)
                    for (uint i = 0; i < keys_at_once; ++i)
                        s[i] = add_products(s[i], q[c], k_tile[(j + i) * q_quads + c]);
            } else {
                for (uint c = 0; c < p.quads; ++c) {
                    const vec4 number = Q[q0 + c];
                    for (uint i = 0; i < keys_at_once; ++i)
                        s[i] = add_products(s[i], number, K[k0 + min(tile + j + i, p.Tk - 1) * p.quads + c]);
                }
            }
            for (uint i = 0; i < keys_at_once; ++i) {
                const uint key = tile + j + i;
                if (key >= end)
                    break;
                while (key >= next) {
                    if (real)
                        result[run * p.rows + row] = vec2(largest, total + lost);
                    largest = minus_infinity;
                    total = lost = 0.0;
                    next = key_behind(++run);
                }
                const float scaled = scaled_score(s[i]);
                const float score = masked_score(scaled, 0, 0, safe_row, key, range);
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
                    lost *= shrink;
                    largest = score;
                }
                add_exactly(total, lost, exp(score - largest));
            }
        }
        if (share)
            barrier();
    }
    if (!real)
        return;
    for (; run < run_end; ++run) {
        result[run * p.rows + row] = vec2(largest, total + lost);
        largest = minus_infinity;
        total = lost = 0.0;
    }
    if (worst < 255)
        atomicMin(fault[worst], row_number(0, 0, row));
}
