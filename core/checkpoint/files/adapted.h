#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace headscope::checkpoint {

class Adapter;
struct Architecture;
class TensorFiles;

/// Changes that a LoRA adapter makes to its base.
struct Adapted {
    std::string base;                      ///< path of the base
    std::int64_t rank = 0, least_rank = 0; ///< the largest and the smallest r of its modules; 0: no module
    std::vector<std::string> modules;  ///< last parts of the names of modules with A and B: "q_proj"; sorted
    std::vector<std::string> replaced; ///< tensors that the adapter has whole, by their names in the files
    std::vector<std::string> left_out; ///< modules and tensors of parts that are not computed
    std::set<std::string> changed;     ///< names in the base's files of the tensors that it changes
};

/// Makes the tensors of the base, `files`, those of the adapted model from now on. Each is computed when it
/// is read. architecture: that of the base. Throws Error(input) that names the module if the base has no such
/// module or one of another shape, and if a table that base and head share would no longer be shared.
Adapted adapt(const Adapter& adapter, const std::string& base, const Architecture& architecture,
              TensorFiles& files);

} // namespace headscope::checkpoint
