#include "core/text/random_numbers.h"

namespace headscope::text {

bool RandomNumbers::survives(double x) {
    // von Neumann 1951: the length of a decreasing run x > u1 > u2 > ... is even with probability exp(-x).
    bool even = true;
    for (double last = x;; even = !even) {
        const double u = fraction();
        if (u >= last)
            return even;
        last = u;
    }
}

double RandomNumbers::normal() {
    while (true) {
        // Accepts |z| = k + x with probability exp(-k/2) exp(-k(k-1)/2) exp(-x(2k+x)/2) = exp(-z^2/2).
        int k = 0;
        while (survives(0.5))
            ++k;
        bool taken = true;
        for (int trial = 0; trial < k * (k - 1) && taken; ++trial)
            taken = survives(0.5);
        if (!taken)
            continue;
        const double x = fraction();
        for (int trial = 0; trial <= k && taken; ++trial)
            taken = survives(x * (2 * k + x) / (2 * k + 2));
        if (taken)
            return (next() >> 63U) != 0 ? -(k + x) : k + x;
    }
}

} // namespace headscope::text
