#version 450
#extension GL_GOOGLE_include_directive : require
// Computes any rectangle of scores, scaled scores, masked scores or weights from Q, K and the statistics of
// the rows: weights are written once, and can be shown even if they were never stored. A workgroup computes a
// square tile with side each * side; each invocation computes each x each numbers of the tile.
#include "attention.glsl"

layout(local_size_x_id = 0) in; // side * side
layout(constant_id = 1) const uint side = 8;
layout(constant_id = 2) const bool share = true; // as in gemm.comp
layout(constant_id = 3) const uint each = 4; // side of the square of numbers of an invocation
const uint tile = each * side;
const uint depth_tile = 4; // vec4

layout(std430, binding = 6) writeonly buffer OutBuffer { float result[]; };

const uint kind_scores = 0, kind_scaled = 1, kind_masked = 2, kind_weights = 3;

const uint shared_depth = share ? depth_tile : 1;
shared vec4 q_tile[shared_depth][tile + 1];
shared vec4 k_tile[shared_depth][tile + 1];

void main() {
    const uint kind = p.extra[0], first_key = p.extra[1], keys = p.extra[2], heads = p.extra[3];
    const uint out_at = p.extra[4];
    const uint me = gl_LocalInvocationID.x, threads = side * side;
    const uint row0 = gl_WorkGroupID.y * tile, key0 = gl_WorkGroupID.x * tile;
    const uint head = gl_WorkGroupID.z % heads, b = gl_WorkGroupID.z / heads;
    const uint my_row = me / side, my_key = me % side; // the others follow at distance `side`
    const uint q0 = q_base(b, head), k0 = k_base(b, head);
    float sum[each][each];
    for (uint r = 0; r < each; ++r)
        for (uint c = 0; c < each; ++c)
            sum[r][c] = 0.0;

    if (share) {
        for (uint d0 = 0; d0 < p.quads; d0 += depth_tile) {
            for (uint at = me; at < depth_tile * tile; at += threads) {
                const uint d = at % depth_tile, i = at / depth_tile;
                const bool inside = d0 + d < p.quads;
                q_tile[d][i] = inside ? Q[q0 + min(row0 + i, p.rows - 1) * p.quads + d0 + d] : vec4(0.0);
                k_tile[d][i] =
                    inside ? K[k0 + min(first_key + key0 + i, p.Tk - 1) * p.quads + d0 + d] : vec4(0.0);
            }
            barrier();
            for (uint d = 0; d < depth_tile; ++d)
                for (uint r = 0; r < each; ++r)
                    for (uint c = 0; c < each; ++c)
                        sum[r][c] = add_products(sum[r][c], q_tile[d][my_row + r * side],
                                                 k_tile[d][my_key + c * side]);
            barrier();
        }
    } else {
        for (uint d = 0; d < p.quads; ++d)
            for (uint r = 0; r < each; ++r) {
                const vec4 q = Q[q0 + min(row0 + my_row + r * side, p.rows - 1) * p.quads + d];
                for (uint c = 0; c < each; ++c)
                    sum[r][c] = add_products(
                        sum[r][c], q, K[k0 + min(first_key + key0 + my_key + c * side, p.Tk - 1) * p.quads + d]);
            }
    }

    for (uint r = 0; r < each; ++r) {
        const uint row = row0 + my_row + r * side;
        if (row >= p.rows)
            break;
        const ivec2 range = reach(row);
        const vec2 known = kind == kind_weights
                               ? statistics[p.statistics_at + (b * p.H + head) * p.Tq + row] : vec2(0.0);
        for (uint c = 0; c < each; ++c) {
            const uint column = key0 + my_key + c * side;
            if (column >= keys)
                break;
            const float score = sum[r][c], scaled = scaled_score(score);
            if (!finite(score))
                atomicMin(fault[fault_score], row_number(b, head, row));
            else if (!finite(scaled))
                atomicMin(fault[fault_scaled], row_number(b, head, row));
            float v = kind == kind_scores ? score : scaled;
            if (kind >= kind_masked)
                v = masked_score(scaled, b, head, row, first_key + column, range);
            if (kind == kind_weights)
                v = known.y > 0.0 && !is_minus_infinity(v) ? exp(min(v - known.x, 0.0)) / known.y : 0.0;
            result[out_at + ((b * heads + head) * p.rows + row) * keys + column] = v;
        }
    }
}
