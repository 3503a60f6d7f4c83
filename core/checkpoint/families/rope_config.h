#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/files/config_reader.h"

namespace headscope::checkpoint {

/// How a family spells the base and the part of a head that turns, and what is taken where they are missing.
struct RopeKeys {
    const char* theta = "rope_theta";
    const char* part = "partial_rotary_factor";
    double usual_theta = 10000.0;
    double usual_part = 1.0;
    bool whole = false; ///< the family turns whole heads only
    double usual_original =
        0;              ///< the length before scaling where the family's own key is missing; 0: see settings
    bool mrope = false; ///< mrope, which turns images by rows and columns, is the plain rotation of a text
};

/// Turns queries and keys of every layer by one set of angles: reads the base, its scaling and the part of a
/// head that turns, from rope_parameters as from the older keys. dk and max_positions are read already.
/// Throws Error(input) naming the key.
void read_rope(const ConfigReader& reader, const RopeKeys& keys, Architecture& architecture);

/// How a family spells the bases of its full layers and of its layers with a window.
struct RopeKindKeys {
    const char* full;
    double usual_full;
    const char* sliding = nullptr; ///< null: they have the same base
    double usual_sliding = 10000.0;
    bool scale_both = false; ///< rope_scaling is for layers with a window too
};

/// Turns whole heads, those of layers with a window by a base of their own and in most families without the
/// scaling of the others. Newer files
/// have an object for each kind in rope_parameters. dk, max_positions and windows are read already. Throws
/// Error(input) naming the key.
void read_rope_kinds(const ConfigReader& reader, const RopeKindKeys& keys, Architecture& architecture);

/// Takes the rotary positions from the layers without a window.
void turn_only_in_windows(Architecture& architecture);

} // namespace headscope::checkpoint
