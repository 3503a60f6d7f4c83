#include "core/checkpoint/graph/stack_text.h"

#include "core/checkpoint/graph/weight_source.h"

#include <utility>

namespace headscope::checkpoint {

namespace {

graph::Stack graph_stack(Stack stack) {
    switch (stack) {
    case Stack::own:
        return graph::Stack::own;
    case Stack::encoder:
        return graph::Stack::encoder;
    case Stack::cross:
        return graph::Stack::cross;
    }
    return graph::Stack::own;
}

} // namespace

graph::Builder StackText::around(const graph::Builder& root) const {
    return root.around(graph_stack(stack), stack_prefix(model, stack));
}

graph::Builder StackText::layer(const graph::Builder& root, AttentionPlace place) const {
    return root.layer(graph_stack(place.stack), place.layer, stack_prefix(model, place.stack));
}

StackText text_of(const Architecture& model, Stack stack, const ModelInputs& inputs, float temperature) {
    const Architecture& a = in_stack(model, stack);
    return {.model = model,
            .architecture = a,
            .stack = stack,
            .inputs = inputs,
            .dims = {.B = inputs.B,
                     .Tq = inputs.T,
                     .Tk = inputs.T,
                     .D = a.D,
                     .Dkv = a.Dkv(),
                     .H = a.H,
                     .Hkv = a.Hkv,
                     .dk = a.dk,
                     .dv = a.dv(),
                     .d_ff = a.d_ff,
                     .vocab = a.vocab,
                     .positions = a.position_rows,
                     .token_types = a.token_types,
                     .d_expert = a.d_expert,
                     .d_embed = a.embed_width(),
                     .experts = a.experts,
                     .Dq = a.Dq(),
                     .delta_H = a.delta ? a.delta->H : 0,
                     .delta_Hqk = a.delta ? a.delta->Hqk : 0,
                     .delta_dk = a.delta ? a.delta->dk : 0,
                     .delta_dv = a.delta ? a.delta->dv : 0,
                     .distances = a.relative ? a.relative->rows.count() : 0},
            .temperature = temperature};
}

graph::Value LeafBuilder::parameter(graph::Builder& g, const StackText& text, const graph::Label& label,
                                    const WeightPlace& place, graph::Parameter source) {
    weights_.emplace(g.full_name(label.name), place);
    return g.parameter(label, axes_of(place.weight, text.architecture, text.dims), std::move(source));
}

graph::OptionalValue LeafBuilder::weight(graph::Builder& g, const StackText& text, AttentionPlace place,
                                         TensorId id) {
    std::optional<WeightSource> source = find_source(text.architecture, place, id);
    if (!source)
        return std::nullopt;
    return parameter(g, text, label_of(id), {.place = place, .weight = id, .may_lack = source->may_lack},
                     std::move(source->parameter));
}

graph::Value LeafBuilder::matrix(graph::Builder& g, const StackText& text, const graph::Label& label,
                                 TensorId id, std::int64_t number) {
    const AttentionPlace place{text.stack, -1};
    graph::Parameter source = find_source(text.architecture, place, id)->parameter;
    source.tensor = with_number(source.tensor, "{e}", number);
    return parameter(g, text, label, {.place = place, .weight = id, .matrix = number}, std::move(source));
}

graph::Value LeafBuilder::position_table(graph::Builder& g, const StackText& text) {
    constexpr TensorId id = TensorId::W_P;
    return parameter(g, text, label_of(id), {.place = {text.stack, -1}, .weight = id}, {});
}

graph::Value LeafBuilder::input(graph::Builder& g, const graph::Label& label, const graph::Axes& axes,
                                const std::vector<float>& numbers, graph::Input::Kind kind) {
    inputs_.emplace(g.full_name(label.name), make_tensor(axes.shape(), numbers));
    return g.input(label, axes, kind);
}

graph::Value add_norm(graph::Builder& g, const graph::Label& label, const Architecture& architecture,
                      const graph::Value& x, const graph::OptionalValue& weight,
                      const graph::OptionalValue& bias) {
    switch (architecture.norm) {
    case NormKind::layer:
    case NormKind::layer_plus_one: // the parameter has the 1
        return g.layer_norm(label, x, weight, bias, architecture.norm_eps);
    case NormKind::rms:
    case NormKind::rms_plus_one: // the parameter has the 1
        return g.rms_norm(label, x, weight, architecture.norm_eps);
    }
    return x;
}

} // namespace headscope::checkpoint
