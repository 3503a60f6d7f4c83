#include "core/checkpoint/gguf/gguf_architecture.h"

#include "core/base/json.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/gguf/gguf_config.h"
#include "core/checkpoint/gguf/gguf_keys.h"
#include "core/checkpoint/gguf/gguf_names.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

/// Some families know biases on queries, keys, values and output together; files may have the first three.
void drop_missing_bias(TensorId bias, const GgufFile& file, Architecture& a) {
    std::erase_if(a.names.body, [&](const TensorName& row) {
        return row.weight == bias && file.find(full_name(row, "", 0)) == nullptr;
    });
}

} // namespace

Architecture read_gguf_architecture(const GgufFile& file) {
    const nlohmann::json config = gguf_config(file);
    Architecture a = read_architecture(dump_json(config), file.source());
    const GgufRow& row = *find_gguf_row(*file.metadata().text("general.architecture"));
    // The format knows no other packings than those that the converter writes.
    if (a.qkv == QkvPacking::by_head)
        a.qkv = QkvPacking::side_by_side;
    take_gguf_names(file, a);
    a.names.prefixes = {""};
    a.names.not_needed = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                          "cls."}; // a classifier on top of BERT
    a.names.twins.clear();
    if (row.permuted)
        a.rotary_pairs = RotaryPairs::neighbours;
    if (row.rms || a.family == "cohere" || a.family == "cohere2" || a.family == "nemotron")
        drop_missing_bias(TensorId::b_O, file, a);
    if (adds_one(a.norm)) // the file has it added
        a.norm = is_layer_norm(a.norm) ? NormKind::layer : NormKind::rms;
    return a;
}

} // namespace headscope::checkpoint
