#include "core/checkpoint/families/common.h"

namespace headscope::checkpoint {

/// The translators of OPUS-MT (Junczys-Dowmunt et al. 2018).
Architecture read_marian(const ConfigReader& reader) {
    return read_bart_like(reader, {.family = "marian", .vocab = 58101, .start_id = 58100});
}

} // namespace headscope::checkpoint
