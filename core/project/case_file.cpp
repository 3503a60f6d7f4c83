#include "core/project/case_file.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/base/parse.h"
#include "core/format/attention_tokens.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace headscope::project {

namespace {

/// Reads X or X_kv; a matrix is a batch of one.
TensorPtr read_tokens(const format::Safetensors& file, const std::string& name) {
    TensorPtr tensor = file.tensor(name);
    const Shape& shape = tensor->shape();
    if (shape.rank() == 2)
        return make_tensor({1, shape[0], shape[1]}, tensor->values());
    if (shape.rank() != 3)
        fail_input(tr("case_file.tensor_shape_should_b",
                      "{}: tensor {} has shape {}; it should be (B, T, width) or (T, width)", file.source(),
                      name, shape.text()));
    return tensor;
}

TensorPtr read_weights(const format::Safetensors& file, const format::Safetensors* second,
                       const std::string& name, bool needed) {
    if (!file.has(name) && second != nullptr && (second->has(name) || needed))
        return second->tensor(name);
    if (file.has(name))
        return file.tensor(name);
    if (needed)
        fail_input(tr("case_file.no_tensor_add_name",
                      "{} has no tensor {}; add it, or name a file that has it with --weights", file.source(),
                      name));
    return nullptr;
}

void add_file_masks(const format::Safetensors& file, Mask& mask) {
    const bool has_add = file.has("mask.add");
    for (std::size_t i = 0; i < mask.size(); ++i)
        if (const auto* rule = std::get_if<AdditiveMask>(&mask[i]);
            rule != nullptr && rule->add == nullptr && !has_add)
            fail_input(tr(
                "case_file.mask_rule_additive_no",
                "mask rule {} (\"additive\") has no \"add\", and {} has no tensor mask.add; give one of them",
                i, file.source()));
    std::erase_if(mask, [](const MaskRule& rule) {
        const auto* additive = std::get_if<AdditiveMask>(&rule);
        return additive != nullptr && additive->add == nullptr;
    });
    if (file.has("mask.allowed"))
        mask.emplace_back(ExplicitMask{file.bools("mask.allowed")});
    if (has_add)
        mask.emplace_back(AdditiveMask{file.tensor("mask.add")});
}

std::optional<std::int64_t> heads_in_metadata(const format::Safetensors& file, const std::string& key) {
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end())
        return std::nullopt;
    const std::string& text = found->second;
    const auto count = number_of<std::int64_t>(text);
    if (!count || *count < 1)
        fail_input(tr("case_file.metadata_should_number_heads",
                      "{}: the metadata \"{}\" is \"{}\"; it should be a number of heads, 1 or more",
                      file.source(), key, text));
    return count;
}

/// The second extent of a tensor (B, H, ...). A mask with extent 1 there is shared by all heads and does not
/// count.
std::optional<std::int64_t> heads_of_tensors(const format::Safetensors& file) {
    for (const char* const name : {"expect.weights", "expect.scores", "mask.allowed", "mask.add"}) {
        const format::SafetensorsEntry* const entry = file.find(name);
        if (entry != nullptr && entry->extents.size() == 4 && entry->extents[1] > 1)
            return entry->extents[1];
    }
    const format::SafetensorsEntry* const weights = file.find("expect.weights");
    return weights != nullptr && weights->extents.size() == 4 ? std::optional(weights->extents[1])
                                                              : std::nullopt;
}

/// Labels of the tokens from a metadata entry, or none. Vocabulary pieces become readable, unless two
/// different pieces would then look the same: equal labels mean the same token to head scores.
std::vector<std::string> labels_in(const format::Safetensors& file, const std::string& key,
                                   std::int64_t count, std::int64_t batch) {
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end())
        return {};
    const std::string from = tr("case_file.metadata_entry", "{}: the metadata entry {}", file.source(), key);
    const format::AttentionTokens tokens = format::parse_attention_tokens(found->second, from);
    if (tokens.query_pieces.empty())
        return {};
    const std::vector<std::string>& pieces = tokens.query_pieces.front();
    for (const std::vector<std::string>& list : tokens.query_pieces)
        if (std::ssize(list) != count)
            fail_input(tr("case_file.tokens_rows_write_one",
                          "{} has {} tokens for {} rows; write one for each, or remove it", from, list.size(),
                          count));
        else if (list != pieces)
            fail_input(tr("case_file.different_tokens_entries_batch",
                          "{} has different tokens for the {} entries of the batch, which are shown with one "
                          "list; save one entry, or one list",
                          from, batch));
    const std::vector<std::string>& readable = tokens.queries.front();
    const std::set<std::string> different(pieces.begin(), pieces.end()),
        shown(readable.begin(), readable.end());
    return shown.size() == different.size() ? readable : pieces;
}

std::int64_t columns_of(const format::Safetensors& file, const char* name) {
    const format::SafetensorsEntry* const entry = file.find(name);
    return entry == nullptr || entry->extents.size() != 2 ? 0 : entry->extents[1];
}

} // namespace

bool is_case(const format::Safetensors& file) {
    return std::ranges::all_of(std::array{"X", "W_Q", "W_K", "W_V", "W_O"},
                               [&](const char* name) { return file.has(name); });
}

CaseHeads heads_of_case(const format::Safetensors& file) {
    auto H = heads_in_metadata(file, "heads");
    if (!H)
        H = heads_of_tensors(file);
    const auto Hkv = heads_in_metadata(file, "kv_heads");
    // Heads of Q and K have the same width.
    const std::int64_t queries = columns_of(file, "W_Q"), keys = columns_of(file, "W_K");
    const std::int64_t common = std::max<std::int64_t>(std::gcd(queries, keys), 1);
    CaseHeads heads{
        .H = H.value_or(std::max<std::int64_t>(queries / common, 1)), .Hkv = 1, .from_file = H.has_value()};
    const bool shared = queries > 0 && keys > 0 && heads.H * keys % queries == 0;
    heads.Hkv = Hkv.value_or(shared ? heads.H * keys / queries : heads.H);
    return heads;
}

Problem load_case(const CaseSource& source) {
    const format::Safetensors file = format::Safetensors::open(source.path);
    std::optional<format::Safetensors> second;
    if (source.weights_path)
        second = format::Safetensors::open(*source.weights_path);
    const format::Safetensors* weights_file = second ? &*second : nullptr;

    Problem problem;
    problem.x = read_tokens(file, "X");
    if (file.has("X_kv"))
        problem.x_kv = read_tokens(file, "X_kv");
    visit_fields(Overloaded{[&](const Field& field, TensorPtr& tensor) {
                                if (tensor == nullptr && field.row != TensorId::x_kv)
                                    tensor = read_weights(file, weights_file,
                                                          std::string(field.label.english), field.required);
                            },
                            [](const Field&, auto&) {}},
                 problem);
    problem.dims = infer_dims(problem.x, problem.x_kv, problem.weights, source.H, source.Hkv);
    problem.tokens = labels_in(file, "tokens", problem.dims.Tq, problem.dims.B);
    if (problem.cross())
        problem.kv_tokens = labels_in(file, "kv_tokens", problem.dims.Tk, problem.dims.B);
    problem.mask = source.mask;
    add_file_masks(file, problem.mask);
    validate(problem);
    return problem;
}

} // namespace headscope::project
