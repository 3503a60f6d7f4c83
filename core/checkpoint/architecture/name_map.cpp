#include "core/checkpoint/architecture/name_map.h"

#include "core/checkpoint/architecture/architecture.h"

#include <algorithm>
#include <iterator>

namespace headscope::checkpoint {

std::vector<TensorName> tensors_of(std::initializer_list<ModuleName> modules) {
    std::vector<TensorName> rows;
    for (const ModuleName& module : modules) {
        const std::string name(module.name);
        rows.push_back(
            {module.weight, name + ".weight", module.layout, module.in, module.out, false, module.layers});
        // A bias has one number for each output. The outputs of a table are its rows, those of a norm the
        // numbers of its weight.
        const bool one_per_row = module.layout == Layout::vector || module.layout == Layout::table;
        if (module.bias)
            rows.push_back({*module.bias, name + ".bias", Layout::vector,
                            one_per_row ? module.in : module.out, Extent::none, false, module.layers});
    }
    return rows;
}

void NameMap::add(std::initializer_list<ModuleName> to_body) {
    std::ranges::move(tensors_of(to_body), std::back_inserter(body));
}

void NameMap::drop(std::initializer_list<TensorId> from_body) {
    std::erase_if(body, [&](const TensorName& row) { return std::ranges::count(from_body, row.weight) > 0; });
}

PackedColumns columns_of(QkvPart part, const Architecture& a) {
    const bool quarters = a.qkv == QkvPacking::quarters;
    const std::int64_t blocks = quarters ? 4 : a.qkv == QkvPacking::by_head ? a.Hkv : 1;
    const std::int64_t queries = a.H / blocks * a.dk, keys = a.Hkv / blocks * a.dk;
    const bool after_both = part == (quarters ? QkvPart::keys : QkvPart::values);
    PackedColumns columns{.count = keys, .blocks = blocks, .stride = queries + 2 * keys};
    if (part == QkvPart::queries)
        columns.count = queries;
    else
        columns.first = queries + (after_both ? keys : 0);
    return columns;
}

std::optional<DeltaColumns> delta_columns(TensorId weight, const Architecture& a) {
    using W = TensorId;
    if (!a.delta)
        return std::nullopt;
    const DeltaLayers& d = *a.delta;
    const std::int64_t each = d.H / d.Hqk, queries = d.dk, values = each * d.dv;
    // Of each query head: its query, its key, its values, their gates.
    const auto of_head = [&](std::int64_t first, std::int64_t count) {
        return DeltaColumns{
            W::delta_W_QKVZ,
            {.first = first, .count = count, .blocks = d.Hqk, .stride = 2 * queries + 2 * values}};
    };
    const auto of_numbers = [&](std::int64_t first) {
        return DeltaColumns{W::delta_W_BA,
                            {.first = first, .count = each, .blocks = d.Hqk, .stride = 2 * each}};
    };
    const auto of_channels = [](std::int64_t first, std::int64_t count) {
        return DeltaColumns{W::delta_conv, {.first = first, .count = count}};
    };
    switch (weight) {
    case W::delta_W_Q:
        return of_head(0, queries);
    case W::delta_W_K:
        return of_head(queries, queries);
    case W::delta_W_V:
        return of_head(2 * queries, values);
    case W::delta_W_Z:
        return of_head(2 * queries + values, values);
    case W::delta_W_B:
        return of_numbers(0);
    case W::delta_W_A:
        return of_numbers(each);
    case W::delta_conv_Q:
        return of_channels(0, d.Hqk * d.dk);
    case W::delta_conv_K:
        return of_channels(d.Hqk * d.dk, d.Hqk * d.dk);
    case W::delta_conv_V:
        return of_channels(2 * d.Hqk * d.dk, d.H * d.dv);
    default:
        return std::nullopt;
    }
}

const TensorName* find_row(const std::vector<TensorName>& rows, TensorId weight) {
    const auto row = std::ranges::find(rows, weight, &TensorName::weight);
    return row == rows.end() ? nullptr : &*row;
}

const TensorName* find_row(const std::vector<TensorName>& rows, TensorId weight,
                           const Architecture& architecture, std::int64_t l) {
    const auto row = std::ranges::find_if(rows, [&](const TensorName& one) {
        return one.weight == weight && is_in_layer(one, architecture, l);
    });
    return row == rows.end() ? nullptr : &*row;
}

bool is_needed(const TensorName& row, const Architecture& architecture) {
    return row.weight != TensorId::W_U || !architecture.tied;
}

bool is_in_layer(const TensorName& row, const Architecture& architecture, std::int64_t l) {
    switch (row.layers) {
    case InLayers::all:
        break;
    case InLayers::dense:
    case InLayers::mixtures:
        if ((row.layers == InLayers::mixtures) != architecture.has_experts(l))
            return false;
        break;
    case InLayers::attention:
    case InLayers::delta:
        if ((row.layers == InLayers::attention) != architecture.has_attention(l))
            return false;
        break;
    case InLayers::own_keys:
        if (architecture.key_layer(l) != l)
            return false;
        break;
    }
    const bool first_norm = row.weight == TensorId::norm1_weight || row.weight == TensorId::norm1_bias;
    return !first_norm || architecture.norms.first || l > 0;
}

std::int64_t extent_of(Extent extent, const Architecture& a, std::int64_t layer) {
    const std::int64_t d_ff = a.d_ffs.empty() ? a.d_ff : a.d_ffs[static_cast<std::size_t>(layer)];
    const StreamCopies copies = a.copies.value_or(StreamCopies());
    switch (extent) {
    case Extent::none:
    case Extent::one:
        return 1;
    case Extent::D:
        return a.D;
    case Extent::H:
        return a.H;
    case Extent::dk:
        return a.dk;
    case Extent::H_dk:
        return a.H * a.dk;
    case Extent::H_dv:
        return a.H * a.dv();
    case Extent::Dq:
        return a.Dq() > 0 ? a.Dq() : a.D;
    case Extent::latent:
        return a.latent ? a.latent->rank : 0;
    case Extent::latent_down:
        return a.Dkv();
    case Extent::latent_up:
        return a.H * (a.dk - a.rotary_width + a.dv());
    case Extent::Hkv_dk:
        return a.Hkv * a.dk;
    case Extent::QKV:
        return (a.H + 2 * a.Hkv) * a.dk;
    case Extent::QG:
        return 2 * a.H * a.dk;
    case Extent::delta_QKVZ:
        return a.delta ? 2 * (a.delta->Hqk * a.delta->dk + a.delta->H * a.delta->dv) : 0;
    case Extent::delta_BA:
        return a.delta ? 2 * a.delta->H : 0;
    case Extent::delta_channels:
        return a.delta ? a.delta->channels() : 0;
    case Extent::delta_kernel:
        return a.delta ? a.delta->kernel : 0;
    case Extent::delta_H:
        return a.delta ? a.delta->H : 0;
    case Extent::delta_H_dv:
        return a.delta ? a.delta->H * a.delta->dv : 0;
    case Extent::delta_dv:
        return a.delta ? a.delta->dv : 0;
    case Extent::d_ff:
        return d_ff;
    case Extent::two_d_ff:
        return 2 * d_ff;
    case Extent::d_shared:
        return a.d_shared;
    case Extent::two_d_shared:
        return 2 * a.d_shared;
    case Extent::d_expert:
        return a.d_expert;
    case Extent::two_d_expert:
        return 2 * a.d_expert;
    case Extent::experts:
        return a.experts;
    case Extent::vocab:
        return a.vocab;
    case Extent::positions:
        return a.position_rows;
    case Extent::token_types:
        return a.token_types;
    case Extent::buckets:
        return a.buckets ? a.buckets->count : 0;
    case Extent::distances:
        return a.relative ? a.relative->rows.count() : 0;
    case Extent::d_embed:
        return a.embed_width();
    case Extent::copies:
        return copies.count;
    case Extent::copies_squared:
        return copies.count * copies.count;
    case Extent::laurel_rank:
        return copies.laurel_rank;
    case Extent::layer_width:
        return copies.layer_width;
    case Extent::layer_widths:
        return a.layers * copies.layer_width;
    case Extent::layer_rows:
        return copies.layer_rows;
    }
    return 1;
}

std::vector<std::int64_t> file_extents(const TensorName& row, const Architecture& architecture,
                                       std::int64_t layer) {
    const std::int64_t in = extent_of(row.in, architecture, layer),
                       out = extent_of(row.out, architecture, layer);
    switch (row.layout) {
    case Layout::vector:
        return {in};
    case Layout::row:
        return {1, in};
    case Layout::linear:
    case Layout::expert_linears:
    case Layout::copy_linears:
        return {out, in};
    case Layout::channels:
        return {out, 1, in};
    case Layout::table:
    case Layout::conv1d:
        return {in, out};
    case Layout::experts:
        return {architecture.experts, in, out};
    case Layout::experts_linear:
        return {architecture.experts, out, in};
    case Layout::expert_vectors:
        return {architecture.experts, in};
    }
    return {};
}

std::string with_number(std::string name, std::string_view mark, std::int64_t number) {
    if (const auto at = name.find(mark); at != std::string::npos)
        name.replace(at, mark.size(), std::to_string(number));
    return name;
}

std::string full_name(const TensorName& row, std::string_view prefix, std::int64_t layer) {
    return with_number(std::string(prefix) + row.name, "{l}", layer / row.shared_by);
}

std::vector<std::string> full_names(const TensorName& row, std::string_view prefix, std::int64_t layer,
                                    const Architecture& architecture) {
    const std::string name = full_name(row, prefix, layer);
    std::vector<std::string> names;
    for (std::int64_t number = 0; number < tensors_per_weight(row, architecture); ++number)
        names.push_back(with_number(name, "{e}", number));
    return names;
}

std::int64_t tensors_per_weight(const TensorName& row, const Architecture& architecture) {
    if (row.layout == Layout::copy_linears)
        return architecture.copies->count - 1;
    return row.layout == Layout::expert_linears ? architecture.experts : 1;
}

} // namespace headscope::checkpoint
