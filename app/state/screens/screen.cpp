#include "app/state/screens/screen.h"

#include "app/state/model_document.h"
#include "app/state/prompts/prompt_mean.h"
#include "app/state/screens/map_pixels.h"
#include "core/analysis/effects/direct_projections.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/format/number_text.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

using Table = std::vector<std::vector<std::string>>;

std::string text_of(double number) {
    std::string text;
    format::append_number(text, static_cast<float>(number));
    return text;
}

/// Adds the spread and the number of prompts of a mean to a row; nothing for one text.
void add_spread(std::vector<std::string>& row, const PromptMean* mean, std::size_t cell) {
    if (mean == nullptr)
        return;
    const std::int64_t count = cell < mean->cells.size() ? mean->cells[cell].count : 0;
    row.push_back(count > 0 ? text_of(mean->cells[cell].spread) : "");
    row.push_back(count > 0 ? std::to_string(count) : "");
}
/// Adds the headings of these columns.
void add_spread_names(std::vector<std::string>& row, const PromptMean* mean) {
    if (mean != nullptr)
        row.insert(row.end(), {"spread", "prompts"});
}
/// Adds the heading of a column, in a table with several columns of means.
void add_column(std::vector<std::string>& row, const std::string& name, const PromptMean* mean) {
    row.push_back(name);
    if (mean != nullptr)
        row.insert(row.end(), {name + " spread", name + " prompts"});
}

Table table_of(const Effects& effects, const EffectsSweep* sweep) {
    Table table{{"writer", "logit"}};
    if (sweep == nullptr) {
        add_spread_names(table.front(), effects.mean.get());
        for (const analysis::LogitPart& part : effects.attribution.parts) {
            table.push_back({part.writer.name(), text_of(part.value)});
            add_spread(table.back(), effects.mean.get(), table.size() - 2);
        }
        table.push_back({"sum", text_of(effects.attribution.logit)});
        add_spread(table.back(), effects.mean.get(), table.size() - 2);
        return table;
    }
    table = {{"head", "lost", "kl"}};
    add_spread_names(table.front(), sweep->mean.get());
    for (std::size_t l = 0; l < sweep->heads.size(); ++l)
        for (std::size_t h = 0; h < sweep->heads[l].size(); ++h)
            if (const auto& cell = sweep->heads[l][h]) {
                table.push_back(
                    {effects.heads[l][h]->writer.name(), text_of(cell->loss), text_of(cell->divergence)});
                add_spread(table.back(), sweep->mean.get(), 2 * (l * sweep->heads[l].size() + h));
            }
    return table;
}

Table table_of(const EffectsSources& sources, const Effects& effects) {
    Table table{{"query \\ key"}};
    table.front().insert(table.front().end(), effects.keys.begin(), effects.keys.end());
    for (std::int64_t i = 0; i < sources.map.shape()[0]; ++i) {
        std::vector<std::string>& row = table.emplace_back();
        row.push_back(effects.queries[static_cast<std::size_t>(i)]);
        for (std::int64_t j = 0; j < sources.map.shape()[1]; ++j)
            row.push_back(text_of(static_cast<double>(sources.map.at(i, j))));
    }
    return table;
}

Table table_of(const PatchingPair& pair, const PatchingMap& map) {
    const bool heads = map.asked.paths || analysis::info_of(map.asked.kind).by_head;
    Table table{{"layer"}};
    for (std::size_t n = 0; n < map.cells.front().size(); ++n)
        add_column(table.front(), heads ? "H" + std::to_string(n) : pair.clean_tokens[n], map.mean.get());
    for (std::size_t l = 0; l < map.cells.size(); ++l) {
        std::vector<std::string>& row = table.emplace_back();
        row.push_back(std::to_string(l));
        for (std::size_t n = 0; n < map.cells[l].size(); ++n) {
            const auto& share = map.cells[l][n];
            row.push_back(share ? text_of(static_cast<double>(*share)) : "");
            add_spread(row, map.mean.get(), l * map.cells.front().size() + n);
        }
    }
    return table;
}

Table table_of(const Atlas& atlas, const analysis::LabelThresholds& thresholds) {
    Table table{{"layer", "head", "label"}};
    for (const analysis::HeadScoreInfo& info : analysis::head_scores())
        if (atlas.known.test(static_cast<std::size_t>(info.score)))
            add_column(table.front(),
                       std::string(info.id) + (atlas.side == Compare::difference ? ", B - A" : ""),
                       atlas.mean.get());
    for (std::int64_t l = 0; l < atlas.L; ++l)
        for (std::int64_t h = 0; h < atlas.H; ++h) {
            const auto& head = atlas.at(l, h);
            if (!head)
                continue;
            const auto label = label_of(*atlas.labelled(l, h), thresholds);
            std::vector<std::string>& row = table.emplace_back(std::vector<std::string>{
                std::to_string(l), std::to_string(h),
                label ? std::string(analysis::info_of(*label).label.text.english) : ""});
            for (const analysis::HeadScoreInfo& info : analysis::head_scores())
                if (atlas.known.test(static_cast<std::size_t>(info.score))) {
                    row.push_back(head->has(info.score) ? text_of(static_cast<double>((*head)[info.score]))
                                                        : "");
                    add_spread(row, atlas.mean.get(),
                               static_cast<std::size_t>(l * atlas.H + h) * analysis::head_score_count +
                                   static_cast<std::size_t>(info.score));
                }
        }
    return table;
}

Table table_of(const WhyScore& why) {
    Table table{{"query \\ key"}};
    for (const WhyScore::Group& group : why.groups)
        table.front().push_back(group.name);
    table.front().emplace_back("sum");
    for (std::size_t q = 0; q < why.groups.size(); ++q) {
        std::vector<std::string>& row = table.emplace_back();
        row.push_back(why.groups[q].name);
        for (std::size_t k = 0; k < why.groups.size(); ++k)
            row.push_back(text_of(why.at(q, k)));
        row.push_back(text_of(why.rows[q]));
    }
    return table;
}

Table table_of(const TokenCircuit& circuit) {
    Table table{{"promotes", "", "suppresses", "", "looks for", ""}};
    for (std::size_t n = 0; n < circuit.promoted.size(); ++n) {
        std::vector<std::string>& row = table.emplace_back();
        for (const auto* const list : {&circuit.promoted, &circuit.suppressed, &circuit.looked_for}) {
            row.push_back((*list)[n].token);
            row.push_back(text_of((*list)[n].value));
        }
    }
    return table;
}

Table table_of(const std::vector<analysis::MapSpot>& spots) {
    Table table{{"query", "key", "weight"}};
    for (const analysis::MapSpot& spot : spots)
        table.push_back({std::to_string(spot.query), std::to_string(spot.key),
                         text_of(static_cast<double>(spot.weight))});
    return table;
}

} // namespace

std::span<const NamedScreen> named_screens() {
    static constexpr std::array all{NamedScreen{"stages", Screen::stages},
                                    NamedScreen{"flow", Screen::flow},
                                    NamedScreen{"atlas", Screen::atlas},
                                    NamedScreen{"effects", Screen::effects},
                                    NamedScreen{"by-source", Screen::effects, EffectKind::by_source},
                                    NamedScreen{"ablated", Screen::effects, EffectKind::ablated},
                                    NamedScreen{"averaged", Screen::effects, EffectKind::averaged},
                                    NamedScreen{"patching", Screen::patching},
                                    NamedScreen{"circuits", Screen::circuits},
                                    NamedScreen{"why", Screen::why},
                                    NamedScreen{"map", Screen::map}};
    return all;
}

const NamedScreen* find_screen(std::string_view name) {
    const auto found = std::ranges::find(named_screens(), name, &NamedScreen::name);
    return found == named_screens().end() ? nullptr : &*found;
}

std::string_view screen_name(const AttentionView& view) {
    return std::ranges::find_if(named_screens(),
                                [&](const NamedScreen& one) {
                                    return one.screen == view.screen &&
                                           (one.screen != Screen::effects || one.effects == view.effects);
                                })
        ->name;
}

bool has_screen(const Document& document, Screen screen) {
    if (document.is_long() && (document.is_experiment() || screen == Screen::stages ||
                               screen == Screen::why || screen == Screen::patching))
        return screen == Screen::map;
    if (screen == Screen::map)
        return (document.is_given() || !document.shows_weights()) &&
               std::max(document.problem.dims.Tq, document.problem.dims.Tk) >= min_map_tokens;
    if (screen == Screen::atlas)
        return true;
    if (!document.is_checkpoint())
        return screen == Screen::stages || (screen == Screen::flow && document.is_experiment());
    const checkpoint::Model& model = *document.part()->model->model;
    // The components of a patched run do not add up to its prediction.
    const bool patched = patched_run(*document.part()) != nullptr;
    if (patched && (screen == Screen::effects || screen == Screen::patching || screen == Screen::why))
        return false;
    switch (screen) {
    case Screen::stages:
    case Screen::atlas:
    case Screen::map:
        return true;
    case Screen::why:
        return analysis::has_direct_projections(model) && analysis::has_one_stream(model) &&
               !analysis::has_relative_terms(model);
    case Screen::flow:
        return why_no_model_flow(document).empty();
    case Screen::effects:
        return model.has_head() && analysis::has_one_stream(model);
    case Screen::circuits:
        return model.has_head() && analysis::has_direct_circuits(model);
    case Screen::patching:
        return model.has_head() && model.config().causal && model.encoder() == nullptr;
    }
    return false;
}

Screen screen_of(const Shown& shown, const ViewState& view) {
    const Screen asked = view.attention.screen;
    if (shown.document != nullptr && shown.document->is_long())
        return has_screen(*shown.document, asked) ? asked : Screen::map;
    const bool has = shown.document != nullptr && has_screen(*shown.document, asked) &&
                     (asked != Screen::why || view.attention.stack == checkpoint::Stack::own);
    return has ? asked : Screen::stages;
}

bool shows_stage_numbers(Screen screen) {
    return screen == Screen::stages || screen == Screen::flow;
}

Table screen_table(const Shown& shown, const ViewState& view) {
    const Screen screen = screen_of(shown, view);
    if (screen == Screen::atlas && shown.atlas != nullptr)
        return table_of(*shown.atlas, view.attention.atlas.thresholds);
    if (screen == Screen::effects && view.attention.effects == EffectKind::by_source) {
        if (shown.sources != nullptr && shown.effects != nullptr)
            return table_of(*shown.sources, *shown.effects);
    } else if (screen == Screen::effects && shown.effects != nullptr)
        return table_of(*shown.effects, shown.sweep.get());
    if (screen == Screen::patching && shown.patching != nullptr && shown.patching->pair != nullptr &&
        shown.patching->map != nullptr)
        return table_of(*shown.patching->pair, *shown.patching->map);
    if (screen == Screen::map && shown.map != nullptr)
        return map_table(visible_pixels(*shown.map, view.attention.long_map));
    if (screen == Screen::why && shown.why != nullptr)
        return table_of(*shown.why);
    if (screen == Screen::circuits && shown.circuits != nullptr && shown.circuits->token != nullptr)
        return table_of(*shown.circuits->token);
    fail_input(tr("common.numbers_page_not_known",
                  "The numbers of this view are not known yet; try again in a moment."));
}

Table far_weights_table(const Shown& shown, const ViewState& view) {
    if (shown.map == nullptr)
        fail_input(tr("common.numbers_page_not_known",
                      "The numbers of this view are not known yet; try again in a moment."));
    if (const std::string why = empty_spots_reason(*shown.map, view.attention.long_map); !why.empty())
        fail_input(why + ".");
    return table_of(*shown.map->spots);
}

} // namespace headscope::app
