#include "core/checkpoint/quantized/join.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/checkpoint/quantized/settings.h"
#include "core/checkpoint/quantized/unpack.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace headscope::checkpoint {

namespace {

using format::TensorEntry;
using nlohmann::json;
using Extents = std::vector<std::int64_t>;

constexpr std::int64_t bits_of_int32 = 32;

std::int64_t number_count(const Extents& extents) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents)
        count *= extent;
    return count;
}

/// Returns true if no size is 0 or too large to be multiplied with another one and the bits of a word.
bool plausible(const Extents& extents) {
    constexpr std::int64_t most = std::int64_t{1} << 28U;
    return std::ranges::all_of(extents, [](std::int64_t extent) { return extent > 0 && extent <= most; });
}

/// A part that holds int32 in rows.
bool is_words(const TensorEntry* part) {
    return part != nullptr && part->dtype == "I32" && part->extents.size() == 2 && plausible(part->extents);
}

std::int64_t divided_up(std::int64_t number, std::int64_t by) {
    return (number + by - 1) / by;
}

/// Numbers of a part that has scales: floating-point numbers, or powers of two.
std::vector<float> scales_from(const TensorFiles& files, const std::string& name) {
    if (files.part(name)->dtype == "F8_E8M0") {
        std::vector<float> powers;
        for (const char byte : files.part_bytes(name))
            powers.push_back(float8_e8m0(static_cast<unsigned char>(byte)));
        return powers;
    }
    const TensorPtr numbers = files.part_numbers(name);
    return {numbers->values().begin(), numbers->values().end()};
}

bool has_scales(const TensorEntry* entry) {
    return entry != nullptr && plausible(entry->extents) &&
           (entry->dtype == "F32" || entry->dtype == "F16" || entry->dtype == "BF16" ||
            entry->dtype == "F8_E8M0");
}

/// A matrix that was found in parts, and how most people call the way it is stored.
struct FoundMatrix {
    JoinedTensor tensor;
    std::string kind; ///< "GPTQ"
    std::int64_t bits = 0;
};

class Joiner {
public:
    Joiner(const TensorFiles& files, const json& config)
        : files_(files), settings_(read_quantization_settings(config)),
          // GPT-2's class stores its matrices as (d_in, d_out), the packages pack them as all others.
          conv1d_(config.value("model_type", json()) == "gpt2") {}

    /// Nothing when some parts are not read here.
    std::optional<std::vector<FoundMatrix>> all();

private:
    bool is(std::initializer_list<std::string_view> methods) const {
        return settings_.method.empty() || std::ranges::find(methods, settings_.method) != methods.end();
    }
    const TensorEntry* find(const std::string& name) const { return files_.find(name); }
    void require(const TensorEntry& part, const Extents& wanted) const;
    /// The matrix (d_out, d_in) of that name.
    FoundMatrix matrix(std::string name, std::string kind, std::int64_t bits, std::string dtype,
                       std::int64_t d_out, std::int64_t d_in, std::vector<std::string> parts,
                       std::function<void(const TensorFiles&, std::span<float>)> read) const;

    // Each returns nothing for parts that are stored in another way.
    std::optional<FoundMatrix> gptq(const std::string& stem) const;
    std::optional<FoundMatrix> awq(const std::string& stem) const;
    std::optional<FoundMatrix> mxfp4(const std::string& stem) const;
    std::optional<FoundMatrix> table_numbers(const std::string& stem, const TensorEntry& state) const;
    std::optional<FoundMatrix> int8(const std::string& stem) const;
    std::optional<FoundMatrix> float8(const std::string& stem) const;
    std::optional<FoundMatrix> packed(const std::string& stem) const;

    const TensorFiles& files_;
    QuantizationSettings settings_;
    bool conv1d_;
};

void Joiner::require(const TensorEntry& part, const Extents& wanted) const {
    if (part.extents != wanted)
        fail_input(tr("join.part_shape",
                      "tensor {} has shape {}; the other parts of its matrix require {}, so get the files "
                      "that belong together",
                      part.name, part.shape_text(), extents_text(wanted)));
}

FoundMatrix Joiner::matrix(std::string name, std::string kind, std::int64_t bits, std::string dtype,
                           std::int64_t d_out, std::int64_t d_in, std::vector<std::string> parts,
                           std::function<void(const TensorFiles&, std::span<float>)> read) const {
    FoundMatrix found{.tensor = {}, .kind = std::move(kind), .bits = bits};
    found.tensor.entry.name = std::move(name);
    found.tensor.entry.dtype = std::move(dtype);
    found.tensor.entry.extents = conv1d_ ? Extents{d_in, d_out} : Extents{d_out, d_in};
    found.tensor.parts = std::move(parts);
    if (!conv1d_) {
        found.tensor.read = std::move(read);
        return found;
    }
    found.tensor.read = [read = std::move(read), d_out, d_in](const TensorFiles& files, std::span<float> to) {
        std::vector<float> rows(to.size());
        read(files, rows);
        for (std::int64_t in = 0; in < d_in; ++in)
            for (std::int64_t out = 0; out < d_out; ++out)
                to[static_cast<std::size_t>(in * d_out + out)] =
                    rows[static_cast<std::size_t>(out * d_in + in)];
    };
    return found;
}

std::optional<FoundMatrix> Joiner::gptq(const std::string& stem) const {
    const TensorEntry &numbers = *find(stem + ".qweight"), *const zeros = find(stem + ".qzeros"),
                      *const scales = find(stem + ".scales"), *const index = find(stem + ".g_idx");
    if (!is_words(&numbers) || !is_words(zeros) || !has_scales(scales) || scales->extents.size() != 2 ||
        !(settings_.layout.empty() || settings_.layout.starts_with("gptq")))
        return std::nullopt;
    const std::int64_t d_out = numbers.extents[1], groups = scales->extents[0];
    const std::int64_t bits = zeros->extents[1] * bits_of_int32 / d_out;
    if ((bits != 2 && bits != 3 && bits != 4 && bits != 8) ||
        numbers.extents[0] * bits_of_int32 % bits != 0 || d_out * bits % bits_of_int32 != 0)
        return std::nullopt;
    const std::int64_t d_in = numbers.extents[0] * bits_of_int32 / bits;
    require(*scales, {groups, d_out});
    require(*zeros, {groups, d_out * bits / bits_of_int32});
    if (index != nullptr)
        require(*index, {d_in});
    const std::int64_t size = settings_.group_size > 0 ? settings_.group_size : divided_up(d_in, groups);
    if (index == nullptr && divided_up(d_in, size) > groups)
        require(*scales, {divided_up(d_in, size), d_out});
    std::vector<std::string> parts{numbers.name, zeros->name, scales->name};
    if (index != nullptr)
        parts.push_back(index->name);
    const bool less_one = settings_.layout != "gptq_v2";
    const auto read = [=, names = parts](const TensorFiles& files, std::span<float> to) {
        std::vector<std::int64_t> group_of(static_cast<std::size_t>(d_in));
        for (std::int64_t row = 0; row < d_in; ++row)
            group_of[static_cast<std::size_t>(row)] = row / size;
        if (names.size() > 3)
            group_of = files.part_integers(names[3]);
        for (const std::int64_t group : group_of)
            if (group < 0 || group >= groups)
                fail_input(tr("join.group_index", "tensor {} names group {} of {}; get the file again",
                              names.back(), group, groups));
        const std::string stored = files.part_bytes(names[0]), stored_zeros = files.part_bytes(names[1]);
        const std::vector<float> factors = scales_from(files, names[2]);
        unpack(GptqMatrix{.d_in = d_in,
                          .d_out = d_out,
                          .groups = groups,
                          .bits = bits,
                          .zeros_less_one = less_one,
                          .numbers = stored,
                          .zeros = stored_zeros,
                          .scales = factors,
                          .group_of = group_of},
               to);
    };
    return matrix(stem + ".weight", "GPTQ", bits, "GPTQ" + std::to_string(bits), d_out, d_in, parts, read);
}

std::optional<FoundMatrix> Joiner::awq(const std::string& stem) const {
    constexpr std::int64_t per_word = 8;
    const TensorEntry &numbers = *find(stem + ".qweight"), *const zeros = find(stem + ".qzeros"),
                      *const scales = find(stem + ".scales");
    if (!is_words(&numbers) || !is_words(zeros) || !has_scales(scales) || scales->extents.size() != 2 ||
        !(settings_.layout.empty() || settings_.layout == "gemm"))
        return std::nullopt;
    const std::int64_t d_in = numbers.extents[0], d_out = numbers.extents[1] * per_word,
                       groups = scales->extents[0];
    if (d_in % groups != 0)
        return std::nullopt;
    require(*scales, {groups, d_out});
    require(*zeros, {groups, d_out / per_word});
    const std::vector<std::string> parts{numbers.name, zeros->name, scales->name};
    const auto read = [=](const TensorFiles& files, std::span<float> to) {
        const std::string stored = files.part_bytes(parts[0]), stored_zeros = files.part_bytes(parts[1]);
        const std::vector<float> factors = scales_from(files, parts[2]);
        unpack(AwqMatrix{.d_in = d_in,
                         .d_out = d_out,
                         .groups = groups,
                         .numbers = stored,
                         .zeros = stored_zeros,
                         .scales = factors},
               to);
    };
    return matrix(stem + ".weight", "AWQ", 4, "AWQ4", d_out, d_in, parts, read);
}

/// gpt_oss: (experts, rows, columns / 32, 16) bytes stand for (experts, columns, rows).
std::optional<FoundMatrix> Joiner::mxfp4(const std::string& stem) const {
    constexpr std::int64_t bytes = 16, block = 32;
    const TensorEntry &numbers = *find(stem + "_blocks"), *const exponents = find(stem + "_scales");
    if (exponents == nullptr || numbers.dtype != "U8" || exponents->dtype != "U8" ||
        numbers.extents.size() != 4 || numbers.extents[3] != bytes || !plausible(numbers.extents))
        return std::nullopt;
    const std::int64_t count = numbers.extents[0], rows = numbers.extents[1], blocks = numbers.extents[2];
    require(*exponents, {count, rows, blocks});
    FoundMatrix found{.tensor = {}, .kind = "MXFP4", .bits = 4};
    found.tensor.entry.name = stem;
    found.tensor.entry.dtype = "MXFP4";
    found.tensor.entry.extents = {count, blocks * block, rows};
    found.tensor.parts = {numbers.name, exponents->name};
    found.tensor.read = [=, parts = found.tensor.parts](const TensorFiles& files, std::span<float> to) {
        const std::string stored = files.part_bytes(parts[0]), powers = files.part_bytes(parts[1]);
        unpack(
            Mxfp4Matrices{
                .count = count, .rows = rows, .blocks = blocks, .numbers = stored, .exponents = powers},
            to);
    };
    return found;
}

/// bitsandbytes with 4 bits: `state` is a JSON text in a tensor of bytes.
std::optional<FoundMatrix> Joiner::table_numbers(const std::string& stem, const TensorEntry& state) const {
    const std::string weight = stem + ".weight";
    const TensorEntry *const numbers = find(weight), *const largest = find(weight + ".absmax"),
                             *const table = find(weight + ".quant_map"),
                             *const nested = find(weight + ".nested_absmax"),
                             *const nested_table = find(weight + ".nested_quant_map");
    if (numbers == nullptr || largest == nullptr || !has_scales(table) || state.dtype != "U8")
        return std::nullopt;
    const json said = parse_json(files_.part_bytes(state.name), state.name);
    const auto integer = [&](const char* key, std::int64_t fallback) {
        const auto found = said.is_object() ? said.find(key) : said.end();
        return said.is_object() && found != said.end() && found->is_number_integer()
                   ? std::clamp<std::int64_t>(found->get<std::int64_t>(), 1, 1 << 20)
                   : fallback;
    };
    const auto shape = said.is_object() ? said.find("shape") : said.end();
    Extents extents;
    if (said.is_object() && shape != said.end() && shape->is_array())
        for (const json& extent : *shape)
            if (extent.is_number_integer() && extent.get<std::int64_t>() > 0 &&
                extent.get<std::int64_t>() < std::int64_t{1} << 31U)
                extents.push_back(extent.get<std::int64_t>());
    if (extents.size() != 2)
        fail_input(tr("join.state", "tensor {} should name the two sizes of its matrix; get the file again",
                      state.name));
    const std::int64_t count = extents[0] * extents[1], block = integer("blocksize", 64),
                       nested_block = integer("nested_blocksize", 256), blocks = divided_up(count, block);
    require(*table, {16});
    require(*largest, {blocks});
    const bool twice = largest->dtype == "U8";
    // The type of the bytes may be another one, so that they can be sent between machines.
    if (std::ssize(files_.part_bytes(numbers->name)) != divided_up(count, 2))
        require(*numbers, {divided_up(count, 2), 1});
    std::vector<std::string> parts{numbers->name, table->name, largest->name, state.name};
    float offset = 0;
    if (twice) {
        if (!has_scales(nested) || !has_scales(nested_table))
            return std::nullopt;
        require(*nested, {divided_up(blocks, nested_block)});
        require(*nested_table, {256});
        parts.insert(parts.end(), {nested->name, nested_table->name});
        if (const auto given = said.find("nested_offset"); given != said.end() && given->is_number())
            offset = given->get<float>();
    } else if (!has_scales(largest)) {
        return std::nullopt;
    }
    const auto read = [=](const TensorFiles& files, std::span<float> to) {
        TableNumbers packed{.block = block, .positions = {}, .table = {}, .largest = {}};
        const std::string stored = files.part_bytes(parts[0]);
        packed.positions = stored;
        std::ranges::copy(scales_from(files, parts[1]), packed.table.begin());
        std::vector<float> scales(static_cast<std::size_t>(blocks));
        if (twice) {
            const std::string positions = files.part_bytes(parts[2]);
            const std::vector<float> sizes = scales_from(files, parts[4]),
                                     values = scales_from(files, parts[5]);
            unpack(QuantizedScales{.block = nested_block,
                                   .positions = positions,
                                   .table = values,
                                   .largest = sizes,
                                   .offset = offset},
                   scales);
        } else {
            scales = scales_from(files, parts[2]);
        }
        packed.largest = scales;
        unpack(packed, to);
    };
    const bool nf4 = state.name.ends_with("nf4");
    return matrix(weight, nf4 ? "bitsandbytes NF4" : "bitsandbytes FP4", 4, nf4 ? "NF4" : "FP4", extents[0],
                  extents[1], parts, read);
}

std::optional<FoundMatrix> Joiner::int8(const std::string& stem) const {
    const TensorEntry *const numbers = find(stem + ".weight"),
                             &largest = *find(stem + ".SCB"), *const layout = find(stem + ".weight_format");
    if (numbers == nullptr || numbers->dtype != "I8" || numbers->extents.size() != 2 ||
        !has_scales(&largest) || !plausible(numbers->extents))
        return std::nullopt;
    require(largest, {numbers->extents[0]});
    std::vector<std::string> parts{numbers->name, largest.name};
    if (layout != nullptr) {
        const std::vector<std::int64_t> order = files_.part_integers(layout->name);
        if (order.size() != 1 || order.front() != 0) // not row by row
            return std::nullopt;
        parts.push_back(layout->name);
    }
    const auto read = [parts](const TensorFiles& files, std::span<float> to) {
        unpack_int8(files.part_bytes(parts[0]), scales_from(files, parts[1]), to);
    };
    return matrix(numbers->name, "bitsandbytes int8", 8, "INT8", numbers->extents[0], numbers->extents[1],
                  parts, read);
}

std::optional<FoundMatrix> Joiner::float8(const std::string& stem) const {
    const TensorEntry& numbers = *find(stem + ".weight");
    const TensorEntry* scales = find(stem + ".weight_scale_inv");
    if (scales == nullptr)
        scales = find(stem + ".weight_scale");
    if (!has_scales(scales) || numbers.extents.size() != 2 || !plausible(numbers.extents))
        return std::nullopt;
    Float8Matrix matrix_of{.rows = numbers.extents[0],
                           .columns = numbers.extents[1],
                           .height = settings_.block_height,
                           .width = settings_.block_width,
                           .numbers = {},
                           .scales = {}};
    const std::int64_t rows = matrix_of.rows, columns = matrix_of.columns,
                       count = number_count(scales->extents);
    if (count == 1) {
        matrix_of.height = rows;
        matrix_of.width = columns;
    } else if (scales->extents == Extents{rows} || scales->extents == Extents{rows, 1}) {
        matrix_of.height = 1;
        matrix_of.width = columns;
    } else {
        require(*scales, {divided_up(rows, matrix_of.height), divided_up(columns, matrix_of.width)});
    }
    const std::vector<std::string> parts{numbers.name, scales->name};
    const auto read = [parts, matrix_of](const TensorFiles& files, std::span<float> to) {
        const std::string stored = files.part_bytes(parts[0]);
        const std::vector<float> factors = scales_from(files, parts[1]);
        Float8Matrix whole = matrix_of;
        whole.numbers = stored;
        whole.scales = factors;
        unpack(whole, to);
    };
    return matrix(numbers.name, "FP8", 8, "FP8", rows, columns, parts, read);
}

std::optional<FoundMatrix> Joiner::packed(const std::string& stem) const {
    // AWQ packs columns, GPTQ rows; the zeros of both pack columns.
    const TensorEntry &numbers = *find(stem + ".qweight"), *const zeros = find(stem + ".qzeros");
    const bool same_width = zeros != nullptr && !zeros->extents.empty() && !numbers.extents.empty() &&
                            zeros->extents.back() == numbers.extents.back();
    if (same_width != (settings_.method == "awq") && !settings_.method.empty())
        return std::nullopt;
    return same_width ? awq(stem) : gptq(stem);
}

std::optional<std::vector<FoundMatrix>> Joiner::all() {
    std::vector<FoundMatrix> found;
    const auto stem_of = [](const std::string& name, std::string_view ending) {
        return name.substr(0, name.size() - ending.size());
    };
    for (const TensorEntry* entry : files_.entries()) {
        const std::string& name = entry->name;
        std::optional<FoundMatrix> one;
        if (name.ends_with(".qweight")) {
            if (!is({"gptq", "awq"}) || !(one = packed(stem_of(name, ".qweight"))))
                return std::nullopt;
        } else if (name.ends_with("_blocks") && entry->dtype == "U8") {
            if (!is({"mxfp4"}) || !(one = mxfp4(stem_of(name, "_blocks"))))
                return std::nullopt;
        } else if (name.ends_with(".weight.quant_state.bitsandbytes__nf4") ||
                   name.ends_with(".weight.quant_state.bitsandbytes__fp4")) {
            const std::size_t ending = name.size() - name.rfind(".weight.quant_state");
            if (!is({"bitsandbytes", "bitsandbytes_4bit"}) ||
                !(one = table_numbers(name.substr(0, name.size() - ending), *entry)))
                return std::nullopt;
        } else if (name.ends_with(".SCB")) {
            if (!is({"bitsandbytes", "bitsandbytes_8bit"}) || !(one = int8(stem_of(name, ".SCB"))))
                return std::nullopt;
        } else if (name.ends_with(".weight") && entry->dtype == "F8_E4M3") {
            if (!is({"fp8", "fbgemm_fp8", "compressed-tensors", "modelopt"}) ||
                !(one = float8(stem_of(name, ".weight"))))
                return std::nullopt;
        }
        if (one)
            found.push_back(std::move(*one));
    }
    return found;
}

/// Scales of activations and of kept keys and values, which a run in float32 does not round.
bool is_scale_of_activations(std::string_view name) {
    constexpr std::array<std::string_view, 8> endings{
        ".input_scale",       ".activation_scale", ".input_scale_ub", ".output_scale",
        ".self_attn.q_scale", ".k_scale",          ".v_scale",        ".kv_scale"};
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

} // namespace

std::string join_quantized(TensorFiles& files, const json& config) {
    if (!config.is_object() || !files.are_safetensors())
        return "";
    std::optional<std::vector<FoundMatrix>> found = Joiner(files, config).all();
    if (!found || found->empty())
        return "";
    std::map<std::string, std::int64_t> numbers; // by kind
    std::vector<JoinedTensor> joined;
    for (FoundMatrix& one : *found) {
        numbers[tr("quantized.bits", "{}, {} bits", one.kind, one.bits)] +=
            number_count(one.tensor.entry.extents);
        joined.push_back(std::move(one.tensor));
    }
    for (const TensorEntry* entry : files.entries())
        if (is_scale_of_activations(entry->name))
            joined.front().parts.push_back(entry->name);
    files.join(std::move(joined));
    return std::ranges::max_element(numbers, {}, [](const auto& row) { return row.second; })->first;
}

} // namespace headscope::checkpoint
