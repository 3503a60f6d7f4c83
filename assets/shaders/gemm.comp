#version 450
// Y = X W + b for a stack of matrices, tile by tile through shared memory. A workgroup computes a square tile
// of Y with side each * side; each invocation computes each x each numbers of the tile.
layout(local_size_x_id = 0) in; // side * side
layout(constant_id = 1) const uint side = 8;
// false: every number is read from its buffer, and no invocation waits for another. This suits software
// devices, whose shared memory is ordinary memory.
layout(constant_id = 2) const bool share = true;
layout(constant_id = 3) const uint each = 4; // side of the square of numbers of an invocation
const uint tile = each * side;
const uint depth_tile = 16;

layout(std430, binding = 0) readonly buffer XBuffer { float X[]; };
layout(std430, binding = 1) readonly buffer WBuffer { float W[]; };
layout(std430, binding = 2) readonly buffer BiasBuffer { float bias[]; };
layout(std430, binding = 3) buffer YBuffer { float Y[]; };
// For each kind of fault, the smallest number of a part of Y that leaves float32's range.
layout(std430, binding = 4) buffer FaultBuffer { uint fault[]; };

const uint with_bias = 1, accumulate = 2;
layout(push_constant) uniform Push {
    uint rows, cols, depth, flags;
    uint x_at, x_step, x_stride; // first number; step to the next matrix of the stack; step to the next row
    uint w_at, w_step, w_stride;
    uint b_at;
    uint y_at, y_step, y_stride;
    uint y_width, y_block_step; // width of the blocks of columns of Y, and the distance between blocks
    uint fault_slot, row_at, row_step; // row_at: number of the first row; row_step: from matrix to matrix
    uint part_rows, part_blocks, block_at; // a part is `part_rows` rows of one block of columns
    float limit; // Y is cut to [-limit, limit]; 0: it is not
} p;

const uint shared_depth = share ? depth_tile : 1;
shared float xs[shared_depth][tile + 1];
shared float ws[shared_depth][tile];

bool finite(float v) { return (floatBitsToUint(v) & 0x7f800000u) != 0x7f800000u; }

void main() {
    const uint me = gl_LocalInvocationID.x, threads = side * side;
    const uint row0 = gl_WorkGroupID.y * tile, col0 = gl_WorkGroupID.x * tile, z = gl_WorkGroupID.z;
    const uint my_row = me / side * each, my_col = me % side * each;
    float sum[each][each];
    for (uint r = 0; r < each; ++r)
        for (uint c = 0; c < each; ++c)
            sum[r][c] = 0.0;

    if (share) {
        for (uint k0 = 0; k0 < p.depth; k0 += depth_tile) {
            for (uint at = me; at < depth_tile * tile; at += threads) {
                const uint k = at % depth_tile, r = at / depth_tile;
                xs[k][r] = row0 + r < p.rows && k0 + k < p.depth
                               ? X[p.x_at + z * p.x_step + (row0 + r) * p.x_stride + k0 + k] : 0.0;
            }
            for (uint at = me; at < depth_tile * tile; at += threads) {
                const uint k = at / tile, c = at % tile;
                ws[k][c] = col0 + c < p.cols && k0 + k < p.depth
                               ? W[p.w_at + z * p.w_step + (k0 + k) * p.w_stride + col0 + c] : 0.0;
            }
            barrier();
            for (uint k = 0; k < depth_tile; ++k)
                for (uint r = 0; r < each; ++r)
                    for (uint c = 0; c < each; ++c)
                        sum[r][c] = fma(xs[k][my_row + r], ws[k][my_col + c], sum[r][c]);
            barrier();
        }
    } else {
        for (uint k = 0; k < p.depth; ++k) {
            const uint w0 = p.w_at + z * p.w_step + k * p.w_stride;
            for (uint r = 0; r < each; ++r) {
                const float v = X[p.x_at + z * p.x_step + min(row0 + my_row + r, p.rows - 1) * p.x_stride + k];
                for (uint c = 0; c < each; ++c)
                    sum[r][c] = fma(v, W[w0 + min(col0 + my_col + c, p.cols - 1)], sum[r][c]);
            }
        }
    }

    for (uint r = 0; r < each; ++r) {
        const uint row = row0 + my_row + r;
        if (row >= p.rows)
            break;
        for (uint c = 0; c < each; ++c) {
            const uint col = col0 + my_col + c;
            if (col >= p.cols)
                break;
            const uint at = p.y_at + z * p.y_step + col / p.y_width * p.y_block_step + row * p.y_stride
                            + col % p.y_width;
            float v = sum[r][c];
            if ((p.flags & with_bias) != 0)
                v += bias[p.b_at + col];
            if ((p.flags & accumulate) != 0)
                v += Y[at];
            Y[at] = p.limit == 0.0 || !finite(v) ? v : clamp(v, -p.limit, p.limit);
            if (!finite(v))
                atomicMin(fault[p.fault_slot], (p.row_at + z * p.row_step + row) / p.part_rows * p.part_blocks
                                                   + p.block_at + col / p.y_width);
        }
    }
}
