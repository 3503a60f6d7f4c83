#include "app/lesson/step_writer.h"

#include "app/draw/kit/format.h"
#include "app/state/model_document.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/lesson/lesson_model.h"
#include "core/text/preset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

namespace headscope::app {

namespace {

/// A text in quotation marks, which YAML reads like JSON.
std::string in_quotes(const std::string& text) {
    return dump_json(nlohmann::json(text));
}

/// A tensor as nested lists; minus infinity as the text of mask rules.
nlohmann::json nested(const Tensor& tensor) {
    std::vector<nlohmann::json> level;
    for (std::int64_t n = 0; n < tensor.count(); ++n) {
        const float value = tensor.data()[n];
        level.push_back(std::isinf(value) ? nlohmann::json("-inf") : nlohmann::json(value));
    }
    for (int axis = tensor.shape().rank() - 1; axis >= 0; --axis) {
        const auto width = static_cast<std::size_t>(tensor.shape()[axis]);
        std::vector<nlohmann::json> rows;
        for (std::size_t from = 0; from < level.size(); from += width)
            rows.emplace_back(
                nlohmann::json::array_t(level.begin() + static_cast<std::ptrdiff_t>(from),
                                        level.begin() + static_cast<std::ptrdiff_t>(from + width)));
        level = std::move(rows);
    }
    return level.front();
}

/// A number that is read as the same float.
std::string exact(float value) {
    return fmt::format("{}", value);
}

class StepWriter {
public:
    explicit StepWriter(const StepSource& source)
        : document_(source.document), view_(source.view), model_(source.model) {}

    std::string step() {
        if (document_.is_given())
            fail_input(tr("step_writer.weights_of_file",
                          "A lesson cannot show attention weights of a file; show a preset or a model."));
        if (document_.is_checkpoint())
            write_model();
        else
            write_recipe();
        write_view();
        const std::string stage = tr(group_info(view_.group).title);
        return "\n## " + tr("step_writer.title", "{} of “{}”", stage, title_words()) + "\n```step\n" +
               out_.str() + "```\n" +
               tr("step_writer.text", "Write here what the learner sees on this page.") + "\n";
    }

private:
    void line(std::string_view key, const std::string& value) { out_ << key << ": " << value << '\n'; }
    void line(std::string_view key, std::int64_t value) { line(key, std::to_string(value)); }

    std::string title_words() const {
        constexpr std::size_t longest = 40;
        std::string words = document_.is_checkpoint() ? document_.part()->prompt : document_.recipe.sentence;
        std::ranges::replace(words, '\n', ' ');
        return shortened(words, longest);
    }

    void write_recipe() {
        const project::Recipe& recipe = document_.recipe;
        if (recipe.base != nullptr)
            fail_input(tr("step_writer.tokens_of_file",
                          "A lesson cannot show the tensors of a file; choose a preset."));
        line("preset", recipe.preset);
        const text::PresetInfo* const preset = text::find_preset(recipe.preset);
        if (preset == nullptr || !preset->fixed_sentence)
            line("sentence", in_quotes(recipe.sentence));
        if (preset != nullptr && !preset->kv_sentence.empty())
            line("kv_sentence", in_quotes(recipe.kv_sentence));
        write_mask(recipe);
        if (recipe.H != 0)
            line("H", recipe.H);
        if (recipe.Hkv != 0)
            line("Hkv", recipe.Hkv);
        if (recipe.preset == "random")
            line("seed", std::to_string(recipe.seed));
        if (recipe.identity_W_O)
            line("W_O", "identity");
        if (recipe.temperature != 1.0F)
            line("temperature", exact(recipe.temperature));
        std::string gains;
        for (std::int64_t h = 0; h < document_.problem.dims.H; ++h)
            if (const float gain = document_.problem.gain(h); gain != 1.0F)
                gains += (gains.empty() ? "" : ", ") + std::to_string(h) + ": " + exact(gain);
        if (!gains.empty())
            line("gain", "{" + gains + "}");
        write_edits(recipe);
    }

    void write_mask(const project::Recipe& recipe) {
        static constexpr std::array<std::string_view, 4> words{"none", "causal", "causal window",
                                                               "symmetric window"};
        const bool painted = project::painted_mask_fits(recipe, document_.problem.dims);
        if (!painted && recipe.extra_mask.empty())
            return line("mask", std::string(words[static_cast<std::size_t>(recipe.mask)]));
        line("mask", "'" + allowed_cells() + "'");
    }

    /// The mask on screen as one explicit rule.
    std::string allowed_cells() const {
        const Dims& d = document_.problem.dims;
        const MaskRows mask(document_.problem.mask, d);
        nlohmann::json heads = nlohmann::json::array();
        for (std::int64_t h = 0; h < d.H; ++h) {
            nlohmann::json rows = nlohmann::json::array();
            for (std::int64_t i = 0; i < d.Tq; ++i) {
                nlohmann::json row = nlohmann::json::array();
                for (std::int64_t j = 0; j < d.Tk; ++j)
                    row.push_back(mask.allows(0, h, i, j) ? 1 : 0);
                rows.push_back(std::move(row));
            }
            heads.push_back(std::move(rows));
        }
        const bool same =
            std::ranges::all_of(heads, [&](const nlohmann::json& one) { return one == heads[0]; });
        const nlohmann::json allowed = same ? heads[0] : nlohmann::json::array({heads});
        nlohmann::json rules = nlohmann::json::array();
        rules.push_back({{"kind", "explicit"}, {"allowed", allowed}});
        for (const MaskRule& rule : document_.problem.mask)
            if (const auto* additive = std::get_if<AdditiveMask>(&rule))
                rules.push_back({{"kind", "additive"}, {"add", nested(*additive->add)}});
        return dump_json(rules);
    }

    void write_edits(const project::Recipe& recipe) {
        std::string cells;
        int count = 0;
        for (const auto& [id, tensor] : recipe.edits) {
            const TensorPtr before = unedited_tensor(document_, id);
            if (before == nullptr || before->shape() != tensor->shape())
                continue; // does not apply to this problem
            const auto columns = tensor->shape()[tensor->shape().rank() - 1];
            for (std::int64_t n = 0; n < tensor->count(); ++n) {
                const float value = tensor->data()[n];
                if (value == before->data()[n])
                    continue;
                if (++count > most_written_edits)
                    fail_input(
                        tr("step_writer.too_many_edits",
                           "The view has more than {} changed numbers; a step of a lesson sets at most "
                           "as many. Undo some of them.",
                           most_written_edits));
                const bool vector = tensor_info(id).rank() == 1;
                const std::string place =
                    vector ? std::to_string(n)
                           : std::to_string(n / columns) + ", " + std::to_string(n % columns);
                cells += (cells.empty() ? "" : ", ") +
                         in_quotes(std::string(tensor_info(id).name) + "[" + place + "]") + ": " +
                         exact(value);
            }
        }
        if (!cells.empty())
            line("edit", "{" + cells + "}");
    }

    void write_model() {
        const RunSpec& part = *document_.part();
        if (part.two_texts() || !part.pair.empty())
            fail_input(tr("step_writer.two_texts", "A lesson shows models that read one text only."));
        const std::string& path = part.model->model->path();
        line("model", checkpoint::is_unpacked(path) ? part.model->name() : in_quotes(path));
        line("sentence", in_quotes(part.prompt));
        line("layer", document_.layer());
        lesson::StepScene scene;
        scene.layer = document_.layer();
        const checkpoint::ModelConfig& config = part.config();
        std::string gains;
        for (std::int64_t l = 0; l < config.layers; ++l)
            for (std::int64_t h = 0; h < config.H; ++h) {
                const float gain = head_gain(part, {checkpoint::Stack::own, l}, h);
                if (gain == 1.0F)
                    continue;
                scene.gains.push_back({.layer = l, .head = h, .gain = gain});
                gains += (gains.empty() ? "" : ", ") +
                         in_quotes(std::to_string(l) + "." + std::to_string(h)) + ": " + exact(gain);
            }
        if (first_difference(part.edits, lesson::edits_of(scene, config)))
            fail_input(tr("step_writer.edited_model",
                          "A lesson can change the head gains of a model, not its numbers; undo the other "
                          "edits."));
        if (!gains.empty())
            line("gain", "{" + gains + "}");
    }

    void write_view() {
        const Problem& problem = document_.problem;
        const AttentionView& attention = view_.attention;
        const bool model = document_.is_checkpoint();
        line("stage", in_quotes(std::string(group_info(view_.group).label)));
        if (view_.row >= 0)
            line("row", view_.row);
        line("head", std::min(view_.head, problem.dims.H - 1));
        if (view_.heads_view == HeadsView::difference)
            line("other", view_.compared_head);
        static constexpr std::array<std::string_view, 4> views{"heatmap", "arcs", "text", "graph"};
        static constexpr std::array<std::string_view, 3> heads{"each", "difference", "mean"};
        static constexpr std::array<std::string_view, 3> projections{"q", "k", "v"};
        if (view_.weights_view != WeightsView::heatmap)
            line("view", std::string(views[static_cast<std::size_t>(view_.weights_view)]));
        if (view_.heads_view != HeadsView::each)
            line("heads", std::string(heads[static_cast<std::size_t>(view_.heads_view)]));
        if (view_.projection != Projection::q)
            line("projection", std::string(projections[static_cast<std::size_t>(view_.projection)]));
        if (view_.group == StageGroup::split)
            line("apart", view_.apart_target > 0 ? "true" : "false");
        if (view_.group == StageGroup::concat)
            line("apart", view_.joined_target > 0 ? "false" : "true");
        write_selection();
        if (model && attention.screen != Screen::stages && attention.screen != Screen::flow &&
            attention.screen != Screen::map)
            write_screen();
    }

    void write_selection() {
        if (!view_.selected || view_.selected->at[0] != 0)
            return;
        const TensorInfo& info = tensor_info(view_.selected->tensor);
        if (is_around(info.group))
            return; // outside attention
        // Targets have no index for the batch, which parameters do not have either.
        const bool batched = !info.axes.empty() && info.axes.front() == Axis::B;
        std::string place;
        for (int axis = batched ? 1 : 0; axis < info.rank(); ++axis)
            place += (place.empty() ? "" : ", ") +
                     std::to_string(view_.selected->at[static_cast<std::size_t>(axis)]);
        line("select", in_quotes(std::string(info.name) + "[" + place + "]"));
    }

    void write_screen() {
        const AttentionView& attention = view_.attention;
        line("screen", std::string(screen_name(attention)));
        const bool asks = attention.screen == Screen::effects || attention.screen == Screen::patching;
        const checkpoint::TextModel& text = *document_.part()->model;
        const auto word = [&](std::int64_t id) {
            std::string label = checkpoint::label_of(text, id);
            constexpr std::string_view space = "·";
            return in_quotes(label.starts_with(space) ? label.substr(space.size()) : label);
        };
        if (asks && model_.effects.token)
            line("token", word(*model_.effects.token));
        if (asks && (model_.effects.against || model_.effects.from_mean))
            line("against", model_.effects.from_mean ? in_quotes("") : word(*model_.effects.against));
        if (attention.screen != Screen::patching)
            return;
        if (!model_.patching.corrupted.empty())
            line("corrupted", in_quotes(model_.patching.corrupted));
        line("patched",
             model_.patching.paths ? "paths" : std::string(analysis::info_of(model_.patching.kind).id));
        if (attention.patch[0] >= 0 && attention.patch[1] >= 0)
            line("patch",
                 in_quotes(std::to_string(attention.patch[0]) + "." + std::to_string(attention.patch[1])));
    }

    const Document& document_;
    const ViewState& view_;
    const ModelState& model_;
    std::ostringstream out_;
};

} // namespace

std::string lesson_step(const StepSource& source) {
    return StepWriter(source).step();
}

std::string with_step(const std::string& lesson_file, const std::string& step) {
    std::istringstream lines(lesson_file);
    std::size_t at = 0, last_heading = std::string::npos;
    bool in_fence = false, has_step = false, has_quiz = false;
    for (std::string line; std::getline(lines, line); at += line.size() + 1) {
        if (line.starts_with("```")) {
            in_fence = !in_fence;
            has_step = has_step || line.starts_with("```step");
            has_quiz = has_quiz || line.starts_with("```quiz");
        } else if (!in_fence && line.starts_with("## ")) {
            last_heading = at;
            has_step = has_quiz = false;
        }
    }
    if (last_heading != std::string::npos && has_quiz && !has_step)
        return lesson_file.substr(0, last_heading) + step.substr(step.find_first_not_of('\n')) + '\n' +
               lesson_file.substr(last_heading);
    return lesson_file + (lesson_file.ends_with('\n') ? "" : "\n") + step;
}

} // namespace headscope::app
