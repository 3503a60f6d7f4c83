#pragma once

#include <cstdint>
#include <vector>

namespace headscope::checkpoint {

/// How rotary frequencies were stretched for longer texts.
struct RopeScaling {
    enum class Kind : std::uint8_t {
        none,
        linear,  ///< every frequency divided by factor
        llama3,  ///< low frequencies divided by factor, high ones kept, in between a blend
        dynamic, ///< as none up to max_positions tokens; beyond, the base grows with their number
        yarn,    ///< as llama3, the blend told by turns within original_max_positions tokens
        longrope ///< each frequency divided by a number of its own, by whether the text is long
    };
    Kind kind = Kind::none;
    double factor = 1.0;
    double low_freq_factor = 1.0;
    double high_freq_factor = 4.0;
    double original_max_positions = 8192.0;
    double beta_fast = 32.0, beta_slow = 1.0; ///< yarn: from how many turns on kept, up to how many divided
    bool whole_pairs = true;                  ///< yarn: the blend begins and ends at whole pairs
    double attention_factor = 1.0;            ///< multiplies cosines and sines
    std::vector<double> short_factors, long_factors; ///< longrope, rotary_width/2 each: up to
                                                     ///< original_max_positions tokens and beyond
};

/// One set of rotary angles.
struct Rope {
    double theta = 10000.0; ///< the base, above 0
    RopeScaling scaling;
};

enum class RotaryPairs : std::uint8_t {
    halves,    ///< numbers c and c + rotary_width/2 of a head turn together
    neighbours ///< numbers 2c and 2c + 1
};

} // namespace headscope::checkpoint
