// Code shared by the kernels of a long map, which read one head. The keys of a part of its map are grouped
// into pixels of `cells` keys; the last pixel may have fewer. A pixel is read in runs of `length` keys; the
// last of its runs may have fewer, or none. Kernels number the runs from the first visible one. (runs, rows):
// the largest masked score of a run and the sum of exp(score - largest); minus infinity and 0 for a run
// without an allowed key.
uint runs_in_sight() { return p.extra[5]; }
uint first_key_of(uint run) {
    const uint cells = p.extra[2], length = p.extra[3], per_pixel = (cells + length - 1) / length;
    const uint n = p.extra[4] + run, pixel = p.extra[0] + n / per_pixel * cells;
    return min(pixel + n % per_pixel * length, p.extra[1]);
}
// Returns the first key of the next run.
uint key_behind(uint run) { return first_key_of(run + 1); }

// Adds to a sum with a separate sum of the parts lost to rounding (Neumaier 1974). All three are 0 or larger.
void add_exactly(inout float sum, inout float lost, float more) {
    precise const float both = sum + more;
    precise const float fault = sum > more ? (sum - both) + more : (more - both) + sum;
    sum = both;
    lost += fault;
}
