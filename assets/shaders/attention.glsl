// Code shared by the kernels that read Q and K: the place of a slab of query rows, and the mask. A slab is
// rows of heads of batch entries; q, k and v are stored head by head, with widths padded with zeros to whole
// vec4.
layout(std430, binding = 0) readonly buffer QBuffer { vec4 Q[]; };
layout(std430, binding = 1) readonly buffer KBuffer { vec4 K[]; };
layout(std430, binding = 2) readonly buffer AllowedBuffer { uint allowed_bytes[]; };
layout(std430, binding = 3) readonly buffer AddBuffer { float add[]; };
// For each query row, the largest masked score and the sum of exp(score - largest), the head's sink among the
// scores; sum 0: fully masked.
layout(std430, binding = 4) buffer StatisticsBuffer { vec2 statistics[]; };
layout(std430, binding = 5) buffer FaultBuffer { uint fault[]; };

const uint has_allowed = 1, has_add = 2, has_sink = 4;
layout(push_constant) uniform Push {
    uint rows, first_row, Tq, Tk;
    uint H, heads_per_group, first_head, row_at; // row_at: number of the first row, for `fault`
    uint q_at, k_at, statistics_at, quads;       // quads: vec4 in a row of Q or K
    uint allowed_at, allowed_b, allowed_h, allowed_i;
    uint add_at, add_b, add_h, add_i;
    int before, after; // number of keys that a row may attend to before and after its own position among the
                       // keys
    float scale;
    uint flags;
    float cap;     // 0: none
    uint extra[7]; // named by each kernel
} p;

const uint fault_score = 0, fault_scaled = 1, fault_masked = 2, fault_value = 3;
#define minus_infinity uintBitsToFloat(0xff800000u)

bool finite(float v) { return (floatBitsToUint(v) & 0x7f800000u) != 0x7f800000u; }
bool is_minus_infinity(float v) { return floatBitsToUint(v) == 0xff800000u; }
bool is_plus_infinity(float v) { return floatBitsToUint(v) == 0x7f800000u; }

// q . k, one term after another, so that every kernel gets the same number for the same pair.
float add_products(float sum, vec4 a, vec4 b) {
    precise float s = fma(a.x, b.x, sum);
    s = fma(a.y, b.y, s);
    s = fma(a.z, b.z, s);
    s = fma(a.w, b.w, s);
    return s;
}

// Keys [x, y) are within reach of this row of the slab.
ivec2 reach(uint row) {
    const int place = int(p.first_row + row) + int(p.Tk) - int(p.Tq);
    const int begin = clamp(place - p.before, 0, int(p.Tk));
    return ivec2(begin, clamp(place + p.after + 1, begin, int(p.Tk)));
}

uint group_of(uint head) { return (p.first_head + head) / p.heads_per_group - p.first_head / p.heads_per_group; }
// The index, in vec4, of the slab's first row of a head, and of key 0.
uint q_base(uint b, uint head) { return p.q_at + (b * p.H + head) * p.Tq * p.quads; }
uint k_base(uint b, uint head) {
    return p.k_at + (b * (p.H / p.heads_per_group) + group_of(head)) * p.Tk * p.quads;
}

float scaled_score(float score) {
    const float scaled = score / p.scale;
    return p.cap == 0.0 ? scaled : p.cap * tanh(scaled / p.cap);
}

// The masked score: minus infinity for a key that may not be read.
float masked_score(float scaled, uint b, uint head, uint row, uint key, ivec2 range) {
    if (int(key) < range.x || int(key) >= range.y)
        return minus_infinity;
    if ((p.flags & has_allowed) != 0) {
        const uint at = p.allowed_at + b * p.allowed_b + head * p.allowed_h + row * p.allowed_i + key;
        if ((allowed_bytes[at / 4] >> (at % 4 * 8) & 255u) == 0)
            return minus_infinity;
    }
    if ((p.flags & has_add) != 0) {
        const float extra = add[p.add_at + b * p.add_b + head * p.add_h + row * p.add_i + key];
        return is_minus_infinity(extra) ? minus_infinity : scaled + extra;
    }
    return scaled;
}

uint row_number(uint b, uint head, uint row) { return p.row_at + (b * p.H + head) * p.Tq + row; }
