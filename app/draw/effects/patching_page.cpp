#include "app/draw/effects/patching_page.h"

#include "app/draw/effects/mean_parts.h"
#include "app/draw/effects/run_progress.h"
#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/edit_marks.h"
#include "app/draw/matrix/matrix.h"
#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float prompts_top = 102, prompt_height = 88, map_names = 44, legend_width = 128;
constexpr float narrow_word = 56; ///< width of a word over columns that are narrower than words

/// The tokens that fit into `room`: all of them, or those around the first that differs. [first, last)
std::pair<std::size_t, std::size_t> around_difference(const PatchingPair& pair, float room,
                                                      const std::function<float(std::size_t)>& width_of) {
    const std::size_t count = pair.differs.size();
    const auto differs =
        static_cast<std::size_t>(std::ranges::find(pair.differs, true) - pair.differs.begin());
    std::size_t first = std::min(differs, count - 1), last = first + 1;
    constexpr float cut = 20; // "…" at both ends
    room -= width_of(first) + 2 * cut;
    for (bool grows = true; grows;) {
        grows = false;
        if (last < count && width_of(last) <= room) {
            room -= width_of(last++);
            grows = true;
        }
        if (first > 0 && width_of(first - 1) <= room) {
            room -= width_of(--first);
            grows = true;
        }
    }
    return {first, last};
}

/// Draws a frame with the tokens of a prompt (those that differ are marked), its logit difference and its
/// most likely next tokens.
void draw_prompt(Picture& picture, const DrawContext& context, const PatchingPair& pair, bool clean,
                 const figure::Rect& area) {
    const Theme& theme = context.theme;
    picture.scene.add(
        figure::RectItem{.area = area, .fill = theme.panel, .stroke = theme.line2, .radius = 6});
    const std::string words =
        clean ? tr("patching_page.clean_first_prompt", "clean: the first prompt")
              : tr("patching_page.corrupted_second_prompt", "corrupted: the second prompt");
    draw_text(picture, context, area.x + 14, area.y + 22, words, Font::ui_semibold, 13, theme.ink);
    const std::string difference =
        signed_number(clean ? pair.clean_difference : pair.corrupted_difference, 2);
    const std::string full = pair.answer + " − " + pair.against + "  " + difference;
    const bool fits =
        context.measure(words, Font::ui_semibold, 13) + context.measure(full, Font::mono, 12.5F) + 40 <=
        area.w;
    draw_text(picture, context, area.right() - 14, area.y + 22, fits ? full : difference, Font::mono, 12.5F,
              theme.ink, Align::right);
    if (!fits)
        picture.tips.push_back({{area.x, area.y, area.w, 30}, full});
    const std::vector<std::string>& tokens = clean ? pair.clean_tokens : pair.corrupted_tokens;
    const auto width_of = [&](std::size_t n) { return context.measure(tokens[n], Font::ui, 13) + 8; };
    const auto [first, last] = around_difference(pair, area.w - 28, width_of);
    float x = area.x + 14;
    if (first > 0)
        x += draw_text(picture, context, x, area.y + 48, "…", Font::ui, 13, theme.muted) + 4;
    for (std::size_t n = first; n < last; ++n) {
        const float width = width_of(n);
        const bool marked = pair.differs[n];
        if (marked)
            picture.scene.add(figure::RectItem{.area = {x - 2, area.y + 33, width, 21},
                                               .fill = clean ? theme.ink : theme.canvas,
                                               .stroke = theme.ink,
                                               .radius = 4});
        draw_text(picture, context, x + 2, area.y + 48, tokens[n], marked ? Font::ui_semibold : Font::ui, 13,
                  marked && clean ? theme.canvas : theme.ink);
        x += width;
    }
    if (last < tokens.size())
        draw_text(picture, context, x + 2, area.y + 48, "…", Font::ui, 13, theme.muted);
    float next_x = area.x + 14 +
                   draw_text(picture, context, area.x + 14, area.y + 74, tr("common.next", "next"), Font::ui,
                             12.5F, theme.muted) +
                   12;
    for (const PatchingPair::Next& next : clean ? pair.clean_next : pair.corrupted_next) {
        const std::string text = next.token + "  " + percent_text(next.probability);
        if (next_x + context.measure(text, Font::ui, 12.5F) > area.right() - 8)
            break; // less probable tokens do not fit
        next_x += draw_text(picture, context, next_x, area.y + 74, text, Font::ui, 12.5F, theme.text) + 18;
    }
}

/// Returns true if the view is too narrow for its buttons next to the title.
bool buttons_below(const DrawContext& context) {
    constexpr float title_and_buttons = 580;
    return context.width - 2 * canvas_pad < title_and_buttons;
}

/// Parses "L0 H6", "0 6" or "l0h6". Throws Error(input) for other texts and for heads of the last layer.
OpenHead sender_typed(const std::string& typed, std::int64_t layers, std::int64_t heads) {
    std::vector<std::int64_t> numbers;
    for (std::size_t at = 0; at < typed.size(); ++at)
        if (std::isdigit(static_cast<unsigned char>(typed[at])) != 0) {
            const bool begins = at == 0 || std::isdigit(static_cast<unsigned char>(typed[at - 1])) == 0;
            if (begins)
                numbers.push_back(0);
            numbers.back() = std::min<std::int64_t>(numbers.back() * 10 + (typed[at] - '0'), 1 << 20);
        }
    if (numbers.size() != 2 || numbers[0] + 1 >= layers || numbers[1] >= heads)
        fail_input(tr("patching_page.paths_begin_head_l0",
                      "Paths start at a head from L0 H0 to L{} H{}. Type one of these.",
                      std::max<std::int64_t>(layers - 2, 0), heads - 1));
    return {numbers[0], numbers[1]};
}

/// Draws the field for the second prompt. Returns its lower edge.
float draw_second_field(Picture& picture, const DrawContext& context, float y) {
    const PatchingView& view = *context.shown.patching;
    const float left =
        canvas_pad +
        draw_text(picture, context, canvas_pad, figure::baseline_for(y + 14, 12.5F),
                  tr("patching_page.second_prompt", "second prompt"), Font::ui, 12.5F, context.theme.muted) +
        10;
    const float right = context.width - canvas_pad;
    if (context.controls) {
        const std::string copy = tr("patching_page.copy_first", "Copy the first");
        const float button = context.measure(copy, Font::ui_medium, 12.5F) + 16;
        draw_text_button(picture, context, right - button, y + 1, copy, false, CopyFirstPrompt{},
                         tr("patching_page.second_prompt_becomes_copy",
                            "Makes the second prompt a copy of the first, in which you then change a word"));
        picture.fields.push_back(
            {.area = {left, y, right - button - 10 - left, 28},
             .label = second_prompt_field,
             .text = view.asked.corrupted,
             .action = [](const std::string& typed) { return AskPatching{.corrupted = typed}; },
             .tip = tr("patching_page.prompt_many_tokens_leads",
                       "The corrupted prompt: the same number of tokens and another answer; Enter runs it"),
             .caret_at_end = true,
             .controls = text::ControlCharacters::kept});
    }
    if (context.controls && !view.asked.corrupted.empty()) {
        constexpr float swap = 110, compare = 204, beside_title = 22, line = 40;
        const float room = right - canvas_pad;
        const bool below = buttons_below(context), apart = room < compare + 10 + swap;
        const float swap_y = below ? y + line : beside_title, compare_y = apart ? swap_y + line : swap_y;
        const float swap_x = below ? canvas_pad : right - compare - 10 - swap,
                    compare_x = apart   ? canvas_pad
                                : below ? canvas_pad + swap + 10
                                        : right - compare;
        if (below)
            y = compare_y;
        draw_button(picture, context, {swap_x, swap_y, swap, 32},
                    tr("patching_page.swap_prompts", "Swap prompts"), SwapPrompts{}, false,
                    tr("patching_page.corrupted_prompt_becomes",
                       "The corrupted prompt becomes the clean one. One direction finds activations that "
                       "suffice for an answer, the other those that are necessary for it."));
        draw_button(picture, context, {compare_x, compare_y, compare, 32},
                    tr("patching_page.compare_prompts_stages", "Compare the prompts' stages"),
                    ComparePrompts{}, false,
                    tr("patching_page.shows_stages_second_prompt",
                       "Shows the stages of the second prompt minus those of the first, as B − A"));
    }
    return y + 40;
}

/// Draws the field for the head at which paths start. Returns its lower edge.
float draw_sender(Picture& picture, const DrawContext& context, const PatchingMap& map, float y) {
    if (!context.controls)
        return y;
    const float left =
        canvas_pad +
        // Translators: the head whose output is patched for each later head
        draw_text(picture, context, canvas_pad, figure::baseline_for(y + 14, 12.5F),
                  tr("patching_page.paths", "paths from"), Font::ui, 12.5F, context.theme.muted) +
        10;
    picture.fields.push_back(
        {.area = {left, y, 90, 28},
         .label = "path sender",
         .text = "L" + std::to_string(map.from.layer) + " H" + std::to_string(map.from.head),
         .action = [layers = std::ssize(map.cells), heads = std::ssize(map.cells.front())](
                       const std::string& typed) { return sender_typed(typed, layers, heads); },
         .tip = tr("patching_page.head_whose_output_patched",
                   "The head whose output is patched for one later head at a time, such as L0 H6")});
    return y + 36;
}

struct PatchGrid {
    float left = 0, top = 0, cell_w = 0, cell_h = 0;
    std::size_t rows = 0, columns = 0;
    bool numbers = false;
    figure::Rect cell(std::size_t row, std::size_t column) const {
        const float gap = cell_w < 5 ? 0.0F : 1.0F;
        return {left + cell_w * static_cast<float>(column), top + cell_h * static_cast<float>(row),
                cell_w - gap, cell_h - 1};
    }
    float right() const { return left + cell_w * static_cast<float>(columns); }
    float bottom() const { return top + cell_h * static_cast<float>(rows); }
};

PatchGrid grid_of(const DrawContext& context, const PatchingMap& map, float top) {
    PatchGrid grid{.left = canvas_pad + map_names,
                   .top = top + 44,
                   .rows = map.cells.size(),
                   .columns = map.cells.front().size()};
    const float room = context.width - canvas_pad - legend_width - grid.left;
    // Columns of a long prompt become narrow, so that the map and its legend stay visible.
    const float wide = std::clamp(room / static_cast<float>(grid.columns), 1.5F, 72.0F);
    grid.cell_w = wide < 5 ? wide : std::floor(wide);
    grid.numbers = grid.cell_w >= 36;
    const bool few = static_cast<float>(grid.rows) <= rows_kept_readable;
    const float least = grid.numbers ? 19.0F : few ? lowest_with_name : 8.0F;
    grid.cell_h = std::floor(std::clamp((context.height - grid.top - 60) / static_cast<float>(grid.rows),
                                        least, grid.rows > 7 ? 30.0F : 42.0F));
    return grid;
}

/// Draws a word over a column that is narrower than the word: for one column in `every`, and for the first
/// that differs, whose neighbors then have none.
void draw_word_of_narrow(Picture& picture, const DrawContext& context, const PatchGrid& grid,
                         const std::string& token, std::size_t n, std::size_t different, std::size_t every) {
    const bool marked = n == different;
    if (!marked && (n > different ? n - different : different - n) < every)
        return;
    const Font font = marked ? Font::ui_semibold : Font::ui;
    draw_text(picture, context, grid.cell(0, n).x, grid.top - 12,
              fitted(context, token, font, 12, narrow_word - 6), font, 12,
              marked ? context.theme.ink : context.theme.muted);
}

void draw_columns(Picture& picture, const DrawContext& context, const PatchingMap& map,
                  const PatchingPair& pair, const PatchGrid& grid) {
    const Theme& theme = context.theme;
    const auto every = static_cast<std::size_t>(std::ceil(narrow_word / grid.cell_w));
    const auto different =
        static_cast<std::size_t>(std::ranges::find(pair.differs, true) - pair.differs.begin());
    for (std::size_t n = 0; n < grid.columns; ++n) {
        const figure::Rect area = grid.cell(0, n);
        const float x = area.x + area.w / 2;
        if (by_head(map)) {
            if (grid.cell_w >= 24 || n % 4 == 0)
                draw_text(picture, context, x, grid.top - 10, "H" + std::to_string(n), Font::ui, 12,
                          theme.muted, Align::center);
            continue;
        }
        const bool marked = pair.differs[n];
        const auto word = [&](const std::string& token, float y, Font font, figure::Color colour) {
            draw_text(picture, context, x, y, fitted(context, token, font, 12, grid.cell_w - 2), font, 12,
                      colour, Align::center);
        };
        if (grid.cell_w < 24) {
            if (marked)
                picture.scene.add(
                    figure::RectItem{.area = {area.x, grid.top - 8, area.w, 5}, .fill = theme.ink});
            if (n % every == 0 || n == different)
                draw_word_of_narrow(picture, context, grid, pair.clean_tokens[n], n, different, every);
            continue;
        }
        word(pair.clean_tokens[n], marked ? grid.top - 24 : grid.top - 10,
             marked ? Font::ui_semibold : Font::ui, marked ? theme.ink : theme.muted);
        if (marked)
            word("(" + pair.corrupted_tokens[n] + ")", grid.top - 8, Font::ui, theme.muted);
    }
}

/// Draws a fraction of a difference that is too small to be meaningful: without color, with a gray number.
void draw_idle_share(Picture& picture, const DrawContext& context, const figure::Rect& area, double share,
                     bool numbers) {
    picture.scene.add(figure::RectItem{.area = area, .fill = context.theme.cell});
    if (numbers)
        draw_text(picture, context, area.x + area.w / 2, figure::baseline_for(area.y + area.h / 2, 12),
                  number(share, 2), Font::mono, 12, context.theme.muted, Align::center);
}

/// The edits of a cell's head; null if there are none or the cell represents a token.
const HeadEdits* head_of_cell(const DrawContext& context, const PatchingMap& map, std::size_t row,
                              std::size_t column) {
    return by_head(map)
               ? head_edits(context, static_cast<std::int64_t>(row), static_cast<std::int64_t>(column))
               : nullptr;
}

void draw_map(Picture& picture, const DrawContext& context, const PatchGrid& grid) {
    const Theme& theme = context.theme;
    const PatchingPair& pair = *context.shown.patching->pair;
    const PatchingMap& map = *context.shown.patching->map;
    const bool stopped = context.shown.patching->stopped;
    draw_columns(picture, context, map, pair, grid);
    const auto& chosen = context.view.attention.patch;
    for (std::size_t row = 0; row < grid.rows; ++row) {
        const figure::Rect first = grid.cell(row, 0);
        const bool on = std::cmp_equal(row, chosen[0]);
        if (grid.cell_h >= 13 || row % 2 == 0)
            draw_text(picture, context, grid.left - 8, figure::baseline_for(first.y + first.h / 2, 12),
                      patching_row_name(map, row), on ? Font::ui_semibold : Font::ui, 12,
                      on ? theme.ink : theme.muted, Align::right);
        for (std::size_t column = 0; column < grid.columns; ++column) {
            const figure::Rect area = grid.cell(row, column);
            const auto& share = map.cells[row][column];
            const bool same = map.same[row][column];
            if (share && !same && map.mean == nullptr && pair.too_similar())
                draw_idle_share(picture, context, area, static_cast<double>(*share), grid.numbers);
            else if (share && !same)
                draw_signed_cell(picture, context, area, static_cast<double>(*share), 1.0, grid.numbers);
            else if (share)
                picture.scene.add(figure::RectItem{.area = area, .fill = theme.cell});
            else
                draw_missing_cell(picture, theme, area, stopped);
            if (share && same && grid.cell_w >= 8)
                draw_text(picture, context, area.x + area.w / 2,
                          figure::baseline_for(area.y + area.h / 2, 12), "·", Font::mono, 12, theme.muted,
                          Align::center);
            const HeadEdits* const edits = head_of_cell(context, map, row, column);
            if (edits != nullptr)
                draw_edit_marks(picture, context, area, *edits);
            if (!context.controls)
                continue;
            const std::string place =
                by_head(map) ? patching_row_name(map, row) + " H" + std::to_string(column)
                             : tr("patching_page.token", "{}, {} (token {})", patching_row_name(map, row),
                                  pair.clean_tokens[column], column);
            const std::string says =
                !share ? stopped ? tr("common.not_measured", "{}: not measured", place)
                                 : tr("common.not_reached_yet", "{}: not reached yet", place)
                : same ? map.asked.paths
                             ? tr("patching_page.not_later_head_path",
                                  "{}: not in a later layer than the head where the path starts", place)
                             : tr("patching_page.same_numbers_both_runs", "{}: the same numbers in both runs",
                                  place)
                       : tr("patching_page.answer_comes_back", "{}: {} of the answer is recovered", place,
                            number(static_cast<double>(*share), 3));
            picture.add_hotspot(area, "patch " + std::to_string(row) + "." + std::to_string(column),
                                PickPatch{static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)},
                                says + on_new_line(patch_spread(map, row, column)) +
                                    (edits == nullptr ? "" : "\n" + edits_text(*edits)));
        }
    }
    if (chosen[0] >= 0 && std::cmp_less(chosen[0], grid.rows) && chosen[1] >= 0 &&
        std::cmp_less(chosen[1], grid.columns))
        draw_selected_cell(
            picture, theme,
            grid.cell(static_cast<std::size_t>(chosen[0]), static_cast<std::size_t>(chosen[1])));
}

void draw_legend(Picture& picture, const DrawContext& context, const PatchGrid& grid,
                 const PatchingMap& map) {
    const Theme& theme = context.theme;
    const float x = grid.right() + 20;
    float y = grid.top + 10;
    draw_text(picture, context, x, y, tr("common.recovered", "recovered"), Font::ui, 12.5F, theme.muted);
    for (const auto& [value, words] : {std::pair(1.0, tr("common.clean", "clean")),
                                       {0.0, tr("patching_page.nothing", "nothing")},
                                       {-1.0, tr("patching_page.worse", "opposite")}}) {
        y += 24;
        picture.scene.add(figure::RectItem{
            .area = {x, y - 11, 14, 14}, .fill = signed_colour(theme, value, 1), .stroke = theme.line2});
        draw_text(picture, context, x + 22, y, number(value, 0), Font::mono, 12, theme.text);
        draw_text(picture, context, x + 46, y, words, Font::ui, 12, theme.muted);
    }
    y += 24;
    draw_text(picture, context, x + 4, y, "·", Font::mono, 12, theme.text);
    draw_text(picture, context, x + 22, y,
              map.asked.paths ? tr("patching_page.earlier_head", "no later layer")
                              : tr("patching_page.same_both", "same in both"),
              Font::ui, 12, theme.muted);
}

std::string line_of(const PatchingMap& map) {
    if (map.asked.paths)
        return tr("patching_page.l_h_wrote_one",
                  "the output of L{} H{}, patched only where a single later head reads it", map.from.layer,
                  map.from.head);
    switch (map.asked.kind) {
    case analysis::PatchKind::residual:
        return tr("patching_page.residual_stream_enters",
                  "patched: the residual stream that enters a layer, at one position");
    case analysis::PatchKind::attention:
        return tr("patching_page.layers_attention_adds_one",
                  "patched: the attention output of a layer, at one position");
    case analysis::PatchKind::mlp:
        return tr("patching_page.layers_mlp_adds_one", "patched: the MLP output of a layer, at one position");
    case analysis::PatchKind::head:
        return tr("patching_page.one_head_adds_all", "patched: the output of one head, at all positions");
    case analysis::PatchKind::q:
        return tr("patching_page.queries_one_head_all", "patched: the queries of one head, at all positions");
    case analysis::PatchKind::k:
        return tr("patching_page.keys_one_head_all", "patched: the keys of one head, at all positions");
    case analysis::PatchKind::v:
        return tr("patching_page.values_one_head_all", "patched: the values of one head, at all positions");
    case analysis::PatchKind::pattern:
        return tr("patching_page.weights_one_head_all",
                  "patched: the attention weights of one head, at all positions");
    }
    return {};
}

} // namespace

std::string patching_row_name(const PatchingMap& map, std::size_t row) {
    const bool last =
        !map.asked.paths && map.asked.kind == analysis::PatchKind::residual && row + 1 == map.cells.size();
    // Translators: the row after the last layer
    return last ? tr("common.end", "end") : "L" + std::to_string(row);
}

Picture draw_patching_page(const DrawContext& context) {
    Picture picture = empty_view(context);
    const Theme& theme = context.theme;
    const PatchingView* const view = context.shown.patching.get();
    const bool known = view != nullptr && view->map != nullptr;
    draw_view_heading(picture, context,
                      mean_title(tr("patching_page.activation_patching", "Activation patching"),
                                 known ? view->map->mean.get() : nullptr),
                      known ? line_of(*view->map) : "");
    if (view == nullptr)
        return picture;
    float y = view->mean ? prompts_top : draw_second_field(picture, context, prompts_top);
    const float room = context.width - 2 * canvas_pad;
    if (view->pair == nullptr || view->map == nullptr || !view->error.empty()) {
        const std::string words =
            !view->error.empty() ? view->error
            : view->mean         ? tr("patching_page.pairs_run", "The prompts of the list are being run.")
            : view->asked.corrupted.empty()
                ? tr("patching_page.type_second_prompt_many",
                     "Type a second prompt that has as many tokens as this one and another answer, or copy "
                     "the first and change a name, for example: “When Mary and John went to the shop, John "
                     "gave a book to” and “When Mary and John went to the shop, Mary gave a book to”. The "
                     "second prompt then runs with one activation of this prompt at a time, and the map "
                     "shows how much of this prompt's answer is recovered.")
            : view->asked.corrupted == context.shown.document->part()->prompt
                ? tr("patching_page.both_prompts_same_change",
                     "Both prompts are the same. Change a word of the second one, for example a name, and "
                     "press Enter. It needs another answer and the same number of tokens.")
            : view->pair != nullptr && view->asked.paths
                ? tr("patching_page.heads_measured_paths_begin",
                     "The heads are being measured: paths will start at the head that recovers most.")
                : tr("patching_page.both_prompts_run", "Both prompts are being run.");
        draw_paragraph(picture, context, canvas_pad, y + 34, std::min(room, 620.0F), words, Font::ui, 14.5F,
                       23, view->error.empty() ? theme.text : theme.bad);
        return picture;
    }
    const PatchingPair& pair = *view->pair;
    constexpr float apart = 16, least_prompt = 200;
    const float half = (room - apart) / 2;
    const bool stacked = half < least_prompt;
    const float prompt = stacked ? room : half;
    if (view->mean) {
        y = draw_mean_of_pairs(picture, context, y);
    } else {
        draw_prompt(picture, context, pair, true, {canvas_pad, y, prompt, prompt_height});
        if (stacked)
            y += prompt_height + apart;
        draw_prompt(picture, context, pair, false,
                    {stacked ? canvas_pad : canvas_pad + half + apart, y, prompt, prompt_height});
        y += prompt_height + apart;
    }
    if (!view->mean && pair.too_similar()) {
        draw_text(picture, context, canvas_pad, y + 10,
                  tr("patching_page.two_prompts_differ_here",
                     "The logit differences of the two prompts are only {} apart, less than {}: too little "
                     "for meaningful fractions. Choose other prompts or tokens.",
                     number(std::abs(pair.clean_difference - pair.corrupted_difference), 3),
                     number(analysis::least_difference, 2)),
                  Font::ui, 13, theme.bad);
        y += 26;
    }
    if (view->map->asked.paths)
        y = draw_sender(picture, context, *view->map, y);
    const PatchGrid grid = grid_of(context, *view->map, y);
    draw_map(picture, context, grid);
    draw_legend(picture, context, grid, *view->map);
    const RunProgress measuring{view->map->done, view->map->count, view->stopped};
    draw_run_progress(picture, context, grid.left, grid.bottom() + 12, measuring);
    if (view->stopped)
        draw_text(picture, context, grid.left + 300, grid.bottom() + 28,
                  tr("patching_page.hatched_cells_not_measured", "Hatched cells are not measured."), Font::ui,
                  12.5F, theme.muted);
    picture.scene.height =
        std::max(context.height, grid.bottom() + 24 + (measuring.is_done() ? 0 : measuring_height));
    picture.scene.width = std::max(context.width, grid.right() + legend_width + canvas_pad);
    return picture;
}

} // namespace headscope::app
