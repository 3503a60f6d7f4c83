#include "core/manual/manual.h"

#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/markdown.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <mutex>

namespace headscope::manual {

namespace {

struct Listed {
    const char* page;
    Message group;
};
// The groups of the table of contents.
constexpr Message program = translatable("manual.using_program", "Using the program"),
                  models = translatable("manual.models", "Models"),
                  command_line = translatable("manual.command_line", "Command line"),
                  about = translatable("manual.about_program", "About the program");
/// The table of contents.
constexpr Listed contents[] = {
    {"first-steps", program},
    {"flow", program},
    {"stages", program},
    {"glossary", program},
    {"finding", program},
    {"keyboard", program},
    {"presets", program},
    {"problem-files", program},
    {"project-file", program},
    {"export", program},
    {"recording", program},
    {"presenting", program},
    {"settings", program},
    {"colours", program},
    {"lessons", program},
    {"pocket", models},
    {"what-opens", models},
    {"checkpoints-window", models},
    {"atlas", models},
    {"effects", models},
    {"generate", models},
    {"attention-files", models},
    {"toy-models", models},
    {"command-line", command_line},
    {"checkpoints", command_line},
    {"prompts", command_line},
    {"survey", command_line},
    {"maps", command_line},
    {"scripts", command_line},
    {"automation", command_line},
    {"engines", about},
    {"performance", about},
    {"installing", about},
    {"contributing", about},
};

/// The anchor that GitHub generates for a heading: lower case, "-" for spaces, no punctuation.
std::string anchor_of(std::string_view title) {
    std::string anchor;
    for (const char c : title) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80 || std::isalnum(byte) != 0 || c == '-' || c == '_')
            anchor += static_cast<char>(std::tolower(byte));
        else if (c == ' ')
            anchor += '-';
    }
    return anchor;
}

std::string absolute(const std::string& page, std::string_view target) {
    if (target.starts_with('#'))
        return page + std::string(target);
    const auto end = target.find(".md");
    if (target.find("://") != std::string_view::npos || end == std::string_view::npos)
        return std::string(target);
    const std::string_view rest = target.substr(end + 3);
    return std::string(target.substr(0, end)) + (rest.empty() ? "#" : std::string(rest));
}

void append_words(std::string& text, std::string_view words) {
    if (!text.empty() && !words.empty())
        text += ' ';
    for (const char c : words)
        text += c == '\n' ? ' ' : c;
}

/// Appends the words of a block.
void append_words(std::string& text, const lesson::LessonBlock& block) {
    std::visit(Overloaded{[&](const lesson::Paragraph& one) { append_words(text, plain(one.spans)); },
                          [&](const lesson::ListBlock& one) {
                              for (const lesson::Spans& item : one.items)
                                  append_words(text, plain(item));
                          },
                          [&](const lesson::TableBlock& one) {
                              const auto row = [&](const std::vector<lesson::Spans>& cells) {
                                  for (const lesson::Spans& cell : cells)
                                      append_words(text, plain(cell));
                              };
                              row(one.header);
                              std::ranges::for_each(one.rows, row);
                          },
                          [&](const lesson::CodeBlock& one) { append_words(text, one.text); },
                          [&](const lesson::Callout& one) {
                              for (const lesson::LessonBlock& inner : one.blocks)
                                  append_words(text, inner);
                          },
                          [](const auto&) {}},
               block);
}

/// The pages, each read when it is first asked for: all of them take several megabytes.
class Pages {
public:
    const Page& at(std::size_t n) {
        std::call_once(once_[n], [&] {
            const std::string name(contents[n].page);
            pages_[n] = read_page(name, asset("manual/" + name + ".md"));
            pages_[n].group = contents[n].group;
        });
        return pages_[n];
    }
    const std::vector<Page>& all() {
        for (std::size_t n = 0; n < pages_.size(); ++n)
            at(n);
        return pages_;
    }
    static Pages& of_program() {
        static Pages pages;
        return pages;
    }

private:
    std::vector<Page> pages_{std::size(contents)};
    std::array<std::once_flag, std::size(contents)> once_;
};

} // namespace

std::string to_ascii_lower(std::string_view text) {
    std::string low(text);
    std::ranges::transform(low, low.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return low;
}

std::string plain(const lesson::Spans& spans) {
    std::string text;
    for (const lesson::Span& span : spans)
        text += span.text;
    return text;
}

Page read_page(const std::string& name, const std::string& text) {
    Page page{.name = name, .title = {}, .group = {}, .blocks = {}, .sections = {}};
    std::map<std::string, int> met; // anchors, and how often each occurred
    const lesson::MarkdownSink sink{
        .section = {},
        .block =
            [&](lesson::LessonBlock block, int) {
                if (const auto* heading = std::get_if<lesson::Heading>(&block)) {
                    std::string title = plain(heading->spans), anchor = anchor_of(title);
                    if (const int before = met[anchor]++; before > 0)
                        anchor += "-" + std::to_string(before);
                    page.sections.push_back(
                        {heading->level, std::move(title), std::move(anchor), {}, page.blocks.size()});
                } else if (!page.sections.empty()) {
                    append_words(page.sections.back().text, block);
                }
                page.blocks.push_back(std::move(block));
            },
        .fence =
            [](const lesson::Fence& fence) {
                return lesson::LessonBlock(lesson::CodeBlock{.language = fence.word, .text = fence.text});
            },
        .link = [&](std::string_view target) { return absolute(name, target); },
        .live_values = false};
    std::vector<lesson::LessonError> faults;
    lesson::read_markdown(text, 1, sink, faults);
    if (!faults.empty() || page.sections.empty() || page.sections.front().block != 0)
        throw Error(ErrorKind::internal, "the manual's page " + name + " does not begin with its title");
    page.title = page.sections.front().title;
    return page;
}

const std::vector<Page>& pages() {
    return Pages::of_program().all();
}

const Page* find_page(std::string_view name) {
    const auto* const row = std::ranges::find(contents, name, &Listed::page);
    return row == std::end(contents) ? nullptr
                                     : &Pages::of_program().at(static_cast<std::size_t>(row - contents));
}

const Section* find_section(const Place& place) {
    const Page* const page = find_page(place.page);
    if (page == nullptr)
        return nullptr;
    if (place.anchor.empty())
        return &page->sections.front();
    const auto section = std::ranges::find(page->sections, place.anchor, &Section::anchor);
    return section == page->sections.end() ? nullptr : &*section;
}

std::optional<Place> place_of(std::string_view link) {
    const auto mark = link.find('#');
    if (link.find("://") != std::string_view::npos || mark == std::string_view::npos)
        return std::nullopt;
    return Place{std::string(link.substr(0, mark)), std::string(link.substr(mark + 1))};
}

std::string link_to(const Place& place) {
    return place.page + "#" + place.anchor;
}

} // namespace headscope::manual
