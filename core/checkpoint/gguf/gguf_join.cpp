#include "core/checkpoint/gguf/gguf_join.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace headscope::checkpoint {

namespace {

/// Of each head the numbers of the key that do not rotate, (H, rank, width), and the value, (H, width, rank):
/// one matrix (H (key + value), rank).
JoinedTensor latent_matrix(const std::string& stem, const format::TensorEntry& keys,
                           const format::TensorEntry& values) {
    const std::int64_t H = keys.extents[0], rank = keys.extents[1], key = keys.extents[2],
                       value = values.extents[1];
    JoinedTensor whole;
    whole.entry.name = stem + "attn_kv_b.weight";
    whole.entry.dtype = keys.dtype;
    whole.entry.extents = {H * (key + value), rank};
    whole.parts = {keys.name, values.name};
    whole.read = [=, parts = whole.parts](const TensorFiles& files, std::span<float> to) {
        const TensorPtr from_keys = files.part_numbers(parts[0]), from_values = files.part_numbers(parts[1]);
        float* row = to.data();
        for (std::int64_t h = 0; h < H; ++h) {
            for (std::int64_t c = 0; c < key; ++c)
                for (std::int64_t r = 0; r < rank; ++r)
                    *row++ = from_keys->at(h, r, c);
            row = std::copy_n(from_values->data() + h * value * rank, value * rank, row);
        }
    };
    return whole;
}

JoinedTensor as_row(const format::TensorEntry& vector) {
    JoinedTensor row;
    row.entry = {vector.name, vector.dtype, {1, vector.extents[0]}};
    row.parts = {vector.name};
    row.read = [name = vector.name](const TensorFiles& files, std::span<float> to) {
        std::ranges::copy(files.part_numbers(name)->values(), to.begin());
    };
    return row;
}

} // namespace

void join_gguf(TensorFiles& files) {
    constexpr std::string_view of_keys = "attn_k_b.weight", gate = ".ffn_gate_inp_shexp.weight";
    std::vector<JoinedTensor> joined;
    for (const format::TensorEntry* entry : files.entries()) {
        if (entry->name.ends_with(gate) && entry->extents.size() == 1)
            joined.push_back(as_row(*entry));
        if (!entry->name.ends_with(of_keys) || entry->extents.size() != 3)
            continue;
        const std::string stem = entry->name.substr(0, entry->name.size() - of_keys.size());
        const format::TensorEntry* const values = files.find(stem + "attn_v_b.weight");
        if (values != nullptr && values->extents.size() == 3 && values->extents[0] == entry->extents[0] &&
            values->extents[2] == entry->extents[1])
            joined.push_back(latent_matrix(stem, *entry, *values));
    }
    files.join(std::move(joined));
}

} // namespace headscope::checkpoint
