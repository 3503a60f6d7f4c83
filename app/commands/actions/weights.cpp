#include "app/commands/actions/rows.h"

#include <algorithm>

namespace headscope::app {

namespace {

bool has_readings(const ActionContext& now) {
    return (now.checkpoint || now.weights_alone) && now.map == nullptr;
}
/// The map of a file applies these options too, except for the keys that the map itself uses.
bool reads_map(const ActionContext& now, const Chord& key) {
    return now.map != nullptr && now.weights_file && !is_map_key(key);
}

std::string needs_map(const ActionContext& now) {
    return now.weights_alone || now.view.group == StageGroup::weights
               ? unless_number(now)
               : tr("weights.maps_weights_zoomed", "Only maps of weights can be zoomed");
}

using Option = bool analysis::ReadingOptions::*;

std::function<Actions(const ActionContext&)> flip(Option option) {
    return [option](const ActionContext& now) {
        return Actions{SetReadingOptions{analysis::turned(now.view.attention.reading, option)}};
    };
}

// Options that would not change the weights cannot be chosen.
std::string lacking(const ActionContext& now, Option option) {
    const auto* const reading =
        std::ranges::find(analysis::readings(), option, &analysis::ReadingInfo::option);
    if (now.view.attention.possible.*option)
        return {};
    if (now.long_document)
        return tr("weights.long_text_shown_weights", "A long text is shown with its weights as they are");
    // Translators: {} is what makes a switch useless: "one key alone", "weights alone, and no values"
    return now.checkpoint ? tr("weights.checkpoint_prompt", "This checkpoint, on this prompt, has {}",
                               tr(reading->lacks))
                          : tr("weights.file", "This file has {}", tr(reading->lacks));
}

bool slides_heads(const ActionContext& now) {
    return !now.weights_alone &&
           (now.view.group == StageGroup::split || now.view.group == StageGroup::concat);
}

/// line: see ActionInfo.
ActionInfo reading(Option option, const Chord& key, const std::string& line) {
    const auto& info = *std::ranges::find(analysis::readings(), option, &analysis::ReadingInfo::option);
    const auto missing = [option](const ActionContext& now) {
        return option == &analysis::ReadingOptions::hide_special_tokens && slides_heads(now)
                   ? tr("weights.split_concat_key_slides", "On split and concat this key slides the heads")
                   : lacking(now, option);
    };
    const auto here = [key](const ActionContext& now) { return has_readings(now) || reads_map(now, key); };
    return {std::string(info.id), tr(info.title), tr(info.does), {key}, here, flip(option), missing, line};
}

Actions flip_log_colours(const ActionContext& now) {
    return {SetLogColours{!now.view.attention.log_colours}};
}

bool has_stacks(const ActionContext& now) {
    return now.two_texts;
}

std::function<Actions(const ActionContext&)> stack(checkpoint::Stack of) {
    return always_send(ShowStack{of});
}

/// Moves from the current weight to a neighboring one.
std::function<Actions(const ActionContext&)> weight(int rows, int cols) {
    return [rows, cols](const ActionContext& now) {
        auto cell = now.focused_cell();
        const TensorInfo& info = tensor_info(cell->tensor);
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(info.rank()); ++axis) {
            if (info.axes[axis] == Axis::Tq)
                cell->at[axis] = std::clamp<std::int64_t>(cell->at[axis] + rows, 0, now.shown->Tq - 1);
            if (info.axes[axis] == Axis::Tk)
                cell->at[axis] = std::clamp<std::int64_t>(cell->at[axis] + cols, 0, now.shown->Tk - 1);
        }
        return Actions{Select{cell}};
    };
}

std::string needs_weight(const ActionContext& now) {
    return now.shown != nullptr && now.focused_cell && now.focused_cell()
               ? ""
               : tr("common.nothing_computed_yet", "Nothing is computed yet");
}

} // namespace

std::vector<ActionInfo> weight_actions() {
    using R = analysis::ReadingOptions;
    return {
        // clang-format off
        {"weight to the right", tr("weights.next_weight", "Next weight"), tr("weights.weight_next_key", "The weight of the next key"), {shift(Key::right)}, weights_only, weight(0, 1), needs_weight, tr("weights.next_weight_open_head", "the next weight of the open head"), {}, true},
        {"weight to the left", tr("weights.weight_before", "Previous weight"), tr("weights.weight_key_before", "The weight of the previous key"), {shift(Key::left)}, weights_only, weight(0, -1), needs_weight, "", {}, true},
        {"weight below", tr("weights.weight_below", "Weight below"), tr("weights.weight_next_query", "The weight of the next query"), {shift(Key::down)}, weights_only, weight(1, 0), needs_weight, "", {}, true},
        {"weight above", tr("weights.weight_above", "Weight above"), tr("weights.weight_query_before", "The weight of the previous query"), {shift(Key::up)}, weights_only, weight(-1, 0), needs_weight, "", {}, true},
        reading(&R::hide_first_token, {letter('F')}, tr("weights.hide_first_token_special", "hide the first token, the special tokens")),
        reading(&R::hide_special_tokens, {letter('S')}, ""),
        reading(&R::merge_words, {letter('P')}, tr("weights.merge_pieces_words", "merge the pieces of words")),
        reading(&R::means, shift(letter('M')), tr("weights.means_beside_heads_below", "means beside the heads and below the layers")),
        reading(&R::norm_weighted, shift(letter('N')), tr("weights.weights_times_length_each", "weights times the length of each key's contribution")),
        reading(&R::rollout, shift(letter('R')), tr("weights.rollout_flow_all_layers", "rollout or flow of all layers so far, beside the heads")),
        reading(&R::flow, shift(letter('F')), ""),
        {"log colours", tr("weights.colours_logarithm", "Colors by the logarithm"), tr("weights.shows_small_weights_more", "Shows small weights more clearly"), {shift(letter('C'))}, has_readings, flip_log_colours},
        {"enlarge map", tr("weights.enlarge_map", "Enlarge the map"), tr("weights.shows_smaller_part_large", "Shows a smaller part of a large map, enlarged"), {{Key::plus}}, has_readings, always_send(ZoomMap{2}), needs_map, tr("weights.zoom_large_map_out", "zoom into a large map, zoom out"), {}, true},
        {"shrink map", tr("weights.shrink_map", "Shrink the map"), tr("weights.shows_larger_part_map", "Shows a larger part of the map, reduced"), {{Key::minus}}, has_readings, always_send(ZoomMap{0.5F}), needs_map, "", {}, true},
        {"whole map", tr("common.whole_map", "Whole map"), tr("common.shows_all_map", "Shows all of the map"), {{Key::home}}, weights_only, always_send(WholeMap{}), {}, tr("weights.show_all_map", "show all of the map")},
        {"zoom at mouse", tr("weights.zoom_mouse", "Zoom at the mouse"), tr("weights.ctrl_wheel_zoom_mouse", "Ctrl and the wheel zoom where the mouse is; the wheel and dragging move a zoomed map"), {}, has_readings, {}, {}, tr("weights.zoom_mouse_move_zoomed", "zoom at the mouse; move a zoomed map"), {}, false, tr("weights.ctrl_wheel_wheel_drag", "Ctrl wheel  wheel  drag")},
        {"encoder heads", tr("weights.heads_encoder", "Heads of the encoder"), tr("weights.how_source_reads_itself", "Attention from the source to itself"), {alt('E')}, has_stacks, stack(checkpoint::Stack::encoder), {}, tr("weights.heads_encoder_decoder_itself", "heads of the encoder, of the decoder, of the cross-attention")},
        {"decoder heads", tr("weights.heads_decoders_self_attention", "Heads of the decoder’s self-attention"), tr("weights.how_target_reads_stands", "Attention from the target to its earlier tokens"), {alt('D')}, has_stacks, stack(checkpoint::Stack::own), {}, ""},
        {"cross heads", tr("weights.heads_cross_attention", "Heads of the cross-attention"), tr("weights.how_target_reads_source", "Attention from the target to the source"), {alt('X')}, has_stacks, stack(checkpoint::Stack::cross), {}, ""},
        // clang-format on
    };
}

} // namespace headscope::app
