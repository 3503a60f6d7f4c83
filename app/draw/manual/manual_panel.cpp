#include "app/draw/manual/manual_panel.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/text_column.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/manual/manual.h"
#include "core/manual/search.h"

#include <algorithm>
#include <variant>

namespace headscope::app {

namespace {

constexpr float top_pad = 8, foot_pad = 40;
constexpr std::size_t most_found = 60;

void draw_page(TextColumn& column, Picture& picture, const manual::Page& page,
               const manual::Section* sought) {
    for (std::size_t i = 0; i < page.blocks.size(); ++i) {
        const float top = column.y();
        std::visit(
            [&]<class Block>(const Block& block) {
                // Blocks that exist only in lessons never occur in a page.
                if constexpr (requires { column.draw(block); })
                    column.draw(block);
            },
            page.blocks[i]);
        if (sought != nullptr && sought->block == i)
            picture.pointed_area = {manual_pad, top, 1, column.y() - top};
    }
}

lesson::Span words(const std::string& text, lesson::SpanStyle style,
                   const manual::Place* leads_to = nullptr) {
    return {.style = style,
            .text = text,
            .link = leads_to == nullptr ? std::string() : manual::link_to(*leads_to)};
}

/// Lists all pages by group.
void draw_contents(TextColumn& column) {
    Message group;
    lesson::ListBlock list;
    const auto end_group = [&] {
        if (!list.items.empty())
            column.draw(list);
        list.items.clear();
    };
    column.draw(
        lesson::Heading{{words(tr("manual_panel.manual", "The manual"), lesson::SpanStyle::plain)}, 1});
    for (const manual::Page& page : manual::pages()) {
        if (page.group != group) {
            end_group();
            group = page.group;
            column.draw(lesson::Heading{{words(tr(group), lesson::SpanStyle::plain)}, 3});
        }
        const manual::Place place{page.name, {}};
        list.items.push_back({words(page.title, lesson::SpanStyle::plain, &place)});
    }
    end_group();
}

/// A line of the search result, with the search words in bold.
lesson::Spans marked(const manual::SearchResult& found) {
    lesson::Spans line;
    std::size_t written = 0;
    for (const auto& [begin, length] : found.marks) {
        if (begin < written)
            continue;
        if (begin > written)
            line.push_back(words(found.line.substr(written, begin - written), lesson::SpanStyle::plain));
        line.push_back(words(found.line.substr(begin, length), lesson::SpanStyle::strong));
        written = begin + length;
    }
    line.push_back(words(found.line.substr(written), lesson::SpanStyle::plain));
    return line;
}

void draw_found(TextColumn& column, const std::vector<manual::SearchResult>& found) {
    const std::size_t places = found.size();
    const std::string count =
        places == 0 ? tr("manual_panel.no_page_holds_all", "No page holds all of these words.")
        : places > most_found
            ? tr("manual_panel.best_places_hold_words", "The best {} of {} places with these words.",
                 most_found, places)
            : tr_n("manual_panel.place_holds_words", "{} place holds these words.",
                   "{} places hold these words.", static_cast<std::int64_t>(places), places);
    column.draw(lesson::Paragraph{{words(count, lesson::SpanStyle::plain)}});
    for (std::size_t i = 0; i < std::min(found.size(), most_found); ++i) {
        const manual::SearchResult& one = found[i];
        const manual::Place place{one.page->name, one.section->anchor};
        // Translators: follows a heading of the manual; {} is the title of its page
        const std::string page =
            one.section->block == 0 ? "" : "  " + tr("manual_panel.in", "in {}", one.page->title);
        column.draw(lesson::Paragraph{{words(one.section->title, lesson::SpanStyle::strong, &place),
                                       words(page, lesson::SpanStyle::plain)}});
        if (!one.line.empty())
            column.draw(lesson::Paragraph{marked(one)});
    }
}

void go(ManualPanel& panel, const manual::Place& place, float scroll) {
    panel.at = place;
    panel.search.clear();
    panel.scroll_to = scroll;
}

} // namespace

void open_manual(ManualPanel& panel, const manual::Place& place) {
    if (!place.page.empty() && manual::find_section(place) == nullptr)
        fail_input(tr("manual_panel.manual_no_place_look",
                      "The manual has no section {}; look for it in the contents.", manual::link_to(place)));
    const bool elsewhere = panel.at != place;
    if (panel.open && elsewhere) {
        panel.back.push_back({panel.at, panel.scroll});
        panel.forward.clear();
    }
    panel.open = true;
    go(panel, place, -1);
}

void step_manual(ManualPanel& panel, int by) {
    auto& from = by < 0 ? panel.back : panel.forward;
    auto& to = by < 0 ? panel.forward : panel.back;
    if (from.empty())
        return;
    to.push_back({panel.at, panel.scroll});
    const ManualPanel::Visit visit = from.back();
    from.pop_back();
    go(panel, visit.place, visit.scroll);
}

const std::vector<manual::SearchResult>& look_up(ManualPanel& panel) {
    if (panel.found == nullptr || panel.found_text != panel.search) {
        panel.found = std::make_shared<const std::vector<manual::SearchResult>>(manual::search(panel.search));
        panel.found_text = panel.search;
    }
    return *panel.found;
}

std::string breadcrumb(const ManualPanel& panel) {
    const manual::Page* const page = manual::find_page(panel.at.page);
    return !panel.search.empty() ? tr("manual_panel.search", "Search")
           : page == nullptr     ? tr("common.contents", "Contents")
                                 : tr(page->group) + " › " + page->title;
}

Picture draw_manual(const DrawContext& context, const ManualPanel& panel) {
    Picture picture;
    // Pages have no live values: the manual is available before anything is computed, and for maps without
    // stages.
    static const Trace no_stages;
    const lesson::LessonState state{.problem = context.shown.problem(), .trace = no_stages};
    TextColumn column(picture, context, state, manual_pad, top_pad, context.width - 2 * manual_pad);
    column.add_copy_buttons();
    const manual::Page* const page = manual::find_page(panel.at.page);
    if (!panel.search.empty())
        draw_found(column, panel.found_text == panel.search && panel.found != nullptr
                               ? *panel.found
                               : manual::search(panel.search));
    else if (page == nullptr)
        draw_contents(column);
    else
        draw_page(column, picture, *page, panel.at.anchor.empty() ? nullptr : manual::find_section(panel.at));
    picture.scene.width = context.width;
    picture.scene.height = std::max(context.height, column.y() + foot_pad);
    return picture;
}

} // namespace headscope::app
