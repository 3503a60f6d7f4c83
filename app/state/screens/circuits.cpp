#include "app/state/screens/circuits.h"

#include "core/analysis/heads/copying.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

TokenCircuit token_circuit(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                           analysis::HeadPlace head, std::int64_t token, bool through_mlp,
                           const Progress& cancel) {
    constexpr std::size_t listed = 10;
    const std::int64_t n = attention_number(run.model().config(), {checkpoint::Stack::own, head.layer});
    const analysis::VocabularyCircuit circuit = analysis::vocabulary_circuit(
        run.model(), run.edits(), n, head.head, token,
        through_mlp ? analysis::TokenVector::first_mlp : analysis::TokenVector::embedding, listed, cancel);
    const auto labelled = [&](const std::vector<analysis::CircuitToken>& tokens) {
        std::vector<TokenCircuit::Entry> entries;
        std::ranges::transform(tokens, std::back_inserter(entries), [&](const analysis::CircuitToken& one) {
            return TokenCircuit::Entry{label_of(model, one.id), one.value};
        });
        return entries;
    };
    return {head, label_of(model, token), labelled(circuit.promoted), labelled(circuit.suppressed),
            labelled(circuit.looked_for)};
}

HeadCircuits head_circuits(const checkpoint::ModelRun& run, Progress& progress) {
    std::vector<std::int64_t> layers(static_cast<std::size_t>(run.model().config().layers));
    std::iota(layers.begin(), layers.end(), std::int64_t{0});
    HeadCircuits out;
    out.compositions = analysis::compositions(run.model(), run.edits(), progress);
    out.copying = analysis::ov_copying(run.model(), run.edits(), layers, progress);
    constexpr std::size_t lines = 24;
    std::vector<double> sizes;
    std::ranges::transform(out.compositions, std::back_inserter(sizes),
                           [](const analysis::Composition& one) { return one.largest(); });
    std::ranges::sort(sizes, std::ranges::greater());
    if (!sizes.empty())
        out.default_threshold =
            static_cast<float>(std::floor(100 * sizes[std::min(lines, sizes.size()) - 1]) / 100);
    return out;
}

} // namespace headscope::app
