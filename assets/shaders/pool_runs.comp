#version 450
#extension GL_GOOGLE_include_directive : require
// Pools the runs of a slab's rows to pixels: the largest weight under each, and the sum of the weights. An
// invocation adds what the slab has of one pixel to what slabs before it brought.
#include "attention.glsl"
#include "runs.glsl"

layout(local_size_x_id = 0) in;
layout(std430, binding = 6) readonly buffer RunBuffer { vec2 runs[]; };
layout(std430, binding = 7) buffer PixelBuffer { vec2 pixels[]; };

void main() {
    const uint cells = p.extra[2], length = p.extra[3], per_pixel = (cells + length - 1) / length;
    const uint place = p.extra[0], width = p.extra[1], first_band = p.extra[6];
    const uint column = gl_GlobalInvocationID.x, band = place / cells + gl_WorkGroupID.y;
    if (column * per_pixel >= runs_in_sight())
        return;
    const uint begin = max(band * cells, place) - place, end = min((band + 1) * cells - place, p.rows);
    const uint at = (first_band + band) * width + p.extra[4] / per_pixel + column;
    float largest = pixels[at].x;
    precise float total = pixels[at].y, lost = 0.0;
    for (uint row = begin; row < end; ++row) {
        const vec2 known = statistics[p.statistics_at + row];
        if (known.y == 0.0)
            continue;
        for (uint run = column * per_pixel; run < (column + 1) * per_pixel; ++run) {
            const vec2 one = runs[run * p.rows + row];
            if (one.y == 0.0)
                continue;
            const float weight = exp(min(one.x - known.x, 0.0)) / known.y;
            largest = max(largest, weight);
            add_exactly(total, lost, one.y * weight);
        }
    }
    pixels[at] = vec2(largest, total + lost);
}
