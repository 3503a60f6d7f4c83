#pragma once

#include "core/analysis/checkpoints/parameter_difference.h"
#include "core/checkpoint/model/parameter_names.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// A tensor of two checkpoints.
struct ChangedTensor {
    ParameterDifference difference;
    std::optional<checkpoint::HeldParameter> parameter; ///< nothing for a name that the family does not list
};

/// A checkpoint B, compared with an open one, A.
struct CheckpointComparison {
    std::string name, path;             ///< of B
    std::int64_t tensors = 0;           ///< the number of tensors that were compared
    std::vector<ChangedTensor> changed; ///< those that differ, by relative norm, the largest first
    checkpoint::ModelEdits edits;       ///< turn A into B; hold whole tensors only where they differ
    std::string note; ///< a sentence about the base of a LoRA adapter; empty: there is nothing to say
};

/// Opens B and compares it with A. `path`: a checkpoint folder, a GGUF file or a LoRA adapter; if the base of
/// the adapter is not on this machine, A is used in its place and the note says so. Whole tensors are held
/// only where they differ. Throws what open_text_model throws for `path`; Error(input) that names the reason
/// if the shapes, the settings, the vocabularies or the sets of parameters differ, if a changed parameter
/// cannot be edited, and if no parameter differs; MemoryShortage, with the size, if the edits do not fit into
/// memory; Error(cancelled).
CheckpointComparison compare_checkpoints(const checkpoint::TextModelPtr& a, const std::string& path,
                                         Progress& progress);

} // namespace headscope::analysis
