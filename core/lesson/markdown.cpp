#include "core/lesson/markdown.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <md4c.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

namespace headscope::lesson {

namespace {

// A live value or a term passes through Markdown as one private-use character that no emphasis or link can
// split.
constexpr std::string_view opens = "{{", closes = "}}";
constexpr std::string_view mark_begin = "\xEE\x80\x80", mark_end = "\xEE\x80\x81";
constexpr std::string_view term_opens = "[[", term_closes = "]]"; ///< around a term of the glossary

constexpr std::size_t most_quotations = 16; ///< nesting depth

constexpr std::string_view blanks_around = " \t\n"; ///< allowed inside the braces of a live value

/// Parses "weights[0][0, 0] = 0.97", "entropy(0):3" or only an expression.
LiveValue parse_value(std::string_view text, int line) {
    LiveValue value;
    value.line = line;
    std::string_view body = trimmed(text, blanks_around);
    if (const auto equals = body.rfind(" = "); equals != std::string_view::npos) {
        value.quoted = trimmed(body.substr(equals + 3), blanks_around);
        body = trimmed(body.substr(0, equals), blanks_around);
    } else if (const auto colon = body.rfind(':'); colon != std::string_view::npos) {
        if (const auto decimals = number_of<int>(body.substr(colon + 1)); decimals && *decimals <= 8) {
            value.decimals = *decimals;
            body = trimmed(body.substr(0, colon), blanks_around);
        }
    }
    value.expression = Expression::parse(body);
    return value;
}

/// Part of a line that Markdown does not read: a live value, or a glossary term; neither after a fault.
struct Inset {
    std::optional<LiveValue> value = {};
    std::string term = {}, text = {};
};

/// Parses "attention" or "attention|attends to".
Inset parse_term(std::string_view text) {
    const auto bar = text.find('|');
    const std::string_view entry = trimmed(text.substr(0, bar), blanks_around);
    const std::string_view said =
        bar == std::string_view::npos ? entry : trimmed(text.substr(bar + 1), blanks_around);
    return {.value = {}, .term = std::string(entry), .text = std::string(said)};
}

/// The place of the next "[[" before a letter, so that lists of numbers in brackets stay text.
std::size_t find_term(std::string_view line) {
    auto at = line.find(term_opens);
    while (at != std::string_view::npos &&
           (at + 2 >= line.size() || (std::isalpha(static_cast<unsigned char>(line[at + 2])) == 0)))
        at = line.find(term_opens, at + 1);
    return at;
}

/// Replaces live values and terms outside fences with marks.
std::string take_insets(std::string_view text, int first_line, std::vector<Inset>& insets,
                        std::vector<LessonError>& faults) {
    std::string out;
    bool fenced = false;
    int number = first_line;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        if (line.starts_with("```"))
            fenced = !fenced;
        while (!fenced) {
            const std::size_t value = line.find(opens), term = find_term(line), open = std::min(value, term);
            if (open == std::string_view::npos)
                break;
            const bool is_term = term < value;
            const auto close = line.find(is_term ? term_closes : closes, open);
            if (close == std::string_view::npos) {
                faults.push_back(
                    {number, is_term
                                 ? tr("markdown.term_begins_line",
                                      "a term that begins with [[ does not end with ]] on its line")
                                 : tr("markdown.live_value_begins_line",
                                      "a live value that begins with {{ does not end with }} on its line")});
                break;
            }
            out += line.substr(0, open);
            out += std::string(mark_begin) + std::to_string(insets.size()) + std::string(mark_end);
            const std::string_view inside = line.substr(open + 2, close - open - 2);
            try {
                insets.push_back(is_term ? parse_term(inside) : Inset{.value = parse_value(inside, number)});
            } catch (const Error& fault) {
                insets.emplace_back();
                faults.push_back({number, fault.what()});
            }
            line.remove_prefix(close + closes.size());
        }
        out += line;
        if (end < text.size())
            out += '\n';
        begin = end + 1;
    }
    return out;
}

class MarkdownReader {
public:
    MarkdownReader(std::string_view text, int first_line, const MarkdownSink& sink,
                   std::vector<LessonError>& faults)
        : first_line_(first_line), sink_(sink), faults_(faults), line_(first_line) {
        text_ = sink.live_values ? take_insets(text, first_line, insets_, faults) : std::string(text);
    }

    void read() {
        MD_PARSER parser{};
        parser.flags = MD_FLAG_TABLES | MD_FLAG_NOHTML;
        parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
            return static_cast<MarkdownReader*>(self)->enter(type, detail);
        };
        parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
            return static_cast<MarkdownReader*>(self)->leave(type, detail);
        };
        parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
            return static_cast<MarkdownReader*>(self)->begin_span(type, detail);
        };
        parser.leave_span = [](MD_SPANTYPE type, void*, void* self) {
            return static_cast<MarkdownReader*>(self)->end_span(type);
        };
        parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
            return static_cast<MarkdownReader*>(self)->words(type, {text, size});
        };
        const int result = md_parse(text_.data(), static_cast<MD_SIZE>(text_.size()), &parser, this);
        if (result != 0 && result != stopped)
            faults_.push_back({first_line_, tr("markdown.text_cannot_read_markdown",
                                               "the text cannot be read as Markdown")});
    }

private:
    static constexpr int stopped = 1; ///< reading stops after an error was listed

    int enter(MD_BLOCKTYPE type, void* detail) {
        switch (type) {
        case MD_BLOCK_QUOTE:
            if (callouts_.size() == most_quotations) {
                faults_.push_back(
                    {first_line_ + static_cast<int>(counted_),
                     tr("markdown.quotations_stand_more_deep",
                        "quotations are nested more than {} deep; remove some of the >", most_quotations)});
                return stopped;
            }
            callouts_.emplace_back();
            break;
        case MD_BLOCK_UL:
        case MD_BLOCK_OL:
            if (in_list_++ == 0)
                list_ = {.numbered = type == MD_BLOCK_OL, .items = {}};
            else if (!spans_.empty()) // of the item that contains the inner list
                list_.items.push_back(std::move(spans_));
            spans_.clear();
            break;
        case MD_BLOCK_TABLE:
            table_ = {};
            break;
        case MD_BLOCK_THEAD:
            in_head_ = true;
            break;
        case MD_BLOCK_TBODY:
            in_head_ = false;
            break;
        case MD_BLOCK_TR:
            row_.clear();
            break;
        case MD_BLOCK_CODE: {
            const auto* code = static_cast<MD_BLOCK_CODE_DETAIL*>(detail);
            fence_ = {.word = std::string(code->info.text, code->info.size), .text = {}, .line = line_};
            in_code_ = true;
            break;
        }
        default:
            break;
        }
        if (type != MD_BLOCK_UL && type != MD_BLOCK_OL && type != MD_BLOCK_LI)
            spans_.clear();
        styles_.clear();
        link_.clear();
        return 0;
    }

    int leave(MD_BLOCKTYPE type, void* detail) {
        switch (type) {
        case MD_BLOCK_H: {
            const unsigned level = static_cast<MD_BLOCK_H_DETAIL*>(detail)->level;
            if (level == 2 && callouts_.empty() && sink_.section)
                sink_.section(std::move(spans_), std::exchange(begun_, {}).value_or(line_));
            else
                put(Heading{std::move(spans_), level});
            break;
        }
        case MD_BLOCK_P:
            paragraph();
            break;
        case MD_BLOCK_LI:
            if (!spans_.empty())
                list_.items.push_back(std::move(spans_));
            break;
        case MD_BLOCK_UL:
        case MD_BLOCK_OL:
            if (--in_list_ == 0)
                put(std::move(list_));
            break;
        case MD_BLOCK_TH:
        case MD_BLOCK_TD:
            row_.push_back(std::move(spans_));
            break;
        case MD_BLOCK_TR:
            if (in_head_)
                table_.header = std::move(row_);
            else
                table_.rows.push_back(std::move(row_));
            break;
        case MD_BLOCK_TABLE:
            put(std::move(table_));
            break;
        case MD_BLOCK_CODE:
            in_code_ = false;
            code();
            break;
        case MD_BLOCK_QUOTE: {
            Callout callout = std::move(callouts_.back());
            callouts_.pop_back();
            put(std::move(callout));
            break;
        }
        default:
            break;
        }
        if (type != MD_BLOCK_UL && type != MD_BLOCK_OL)
            spans_.clear();
        return 0;
    }

    /// Inside a list, a paragraph is an item. In a quotation, the first paragraph may name the kind: [!try].
    void paragraph() {
        if (in_list_ > 0) {
            list_.items.push_back(std::move(spans_));
            return;
        }
        if (!callouts_.empty() && callouts_.back().kind.empty() && !spans_.empty()) {
            std::string& text = spans_.front().text;
            const auto close = end_of_mark(text);
            if (text.starts_with("[!") && close != std::string::npos) {
                name(callouts_.back(), text.substr(2, close - 2));
                // A space follows the mark if emphasis or a live value comes next.
                const auto begin = text.find_first_not_of(' ', close + 1);
                remove_prefix(spans_.front(), std::min(begin, text.size()));
            }
            if (text.empty() && !spans_.front().value)
                spans_.erase(spans_.begin());
        }
        if (!spans_.empty())
            put(Paragraph{std::move(spans_)});
    }

    static void remove_prefix(Span& span, std::size_t count) {
        span.line = lesson::line_at(span, count);
        std::erase_if(span.line_starts, [&](std::size_t at) { return at <= count; });
        for (std::size_t& at : span.line_starts)
            at -= count;
        span.text.erase(0, count);
    }

    /// Finds the closing bracket of the mark at the start of a text. A condition may contain brackets.
    static std::size_t end_of_mark(std::string_view text) {
        int open = 0;
        for (std::size_t at = 0; at < text.size(); ++at) {
            open += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
            if (open == 0)
                return text[at] == ']' ? at : std::string_view::npos;
        }
        return std::string_view::npos;
    }

    /// Handles [!when CONDITION], or the kind of a box.
    void name(Callout& callout, const std::string& mark) {
        constexpr std::string_view condition = "when ";
        callout.kind = mark;
        callout.line = line_;
        if (!mark.starts_with(condition))
            return;
        callout.kind = trimmed(condition, blanks_around);
        try {
            callout.when =
                Expression::parse(trimmed(std::string_view(mark).substr(condition.size()), blanks_around));
        } catch (const Error& fault) {
            faults_.push_back({line_, fault.what()});
        }
    }

    void code() {
        if (!sink_.fence)
            return;
        if (std::optional<LessonBlock> block = sink_.fence(fence_))
            put(std::move(*block));
        else if (callouts_.empty())
            begun_.reset();
    }

    void put(LessonBlock block) {
        if (!callouts_.empty())
            callouts_.back().blocks.push_back(std::move(block));
        else if (const int line = std::exchange(begun_, {}).value_or(line_); sink_.block)
            sink_.block(std::move(block), line);
    }

    int begin_span(MD_SPANTYPE type, void* detail) {
        if (type == MD_SPAN_A) {
            const MD_ATTRIBUTE& target = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
            link_ = sink_.link ? sink_.link({target.text, target.size}) : std::string();
        } else {
            styles_.push_back(style_of(type));
        }
        return 0;
    }

    /// Ends a span, which may not have begun: for [](*)* md4c reports only the end, because the beginning is
    /// in a link's target.
    int end_span(MD_SPANTYPE type) {
        if (type == MD_SPAN_A) {
            link_.clear();
            return 0;
        }
        const auto last = std::find(styles_.rbegin(), styles_.rend(), style_of(type));
        if (last != styles_.rend())
            styles_.erase(std::next(last).base());
        return 0;
    }

    static SpanStyle style_of(MD_SPANTYPE type) {
        return type == MD_SPAN_STRONG ? SpanStyle::strong
               : type == MD_SPAN_CODE ? SpanStyle::code
                                      : SpanStyle::emphasis;
    }

    /// md4c reports texts in file order, so each call counts only the line breaks since the last one.
    int line_at(std::size_t at) {
        if (at < counted_to_)
            counted_to_ = 0, counted_ = 0;
        counted_ += std::ranges::count(std::string_view(text_).substr(counted_to_, at - counted_to_), '\n');
        counted_to_ = at;
        return first_line_ + static_cast<int>(counted_);
    }

    int words(MD_TEXTTYPE type, std::string_view text) {
        if (text.data() >= text_.data() && text.data() < text_.data() + text_.size())
            line_ = line_at(static_cast<std::size_t>(text.data() - text_.data()));
        if (!begun_)
            begun_ = line_;
        if (in_code_) {
            if (fence_.text.empty())
                fence_.line = line_;
            fence_.text += text;
            return 0;
        }
        if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) {
            add(" ");
            if (!spans_.empty())
                spans_.back().line_starts.push_back(spans_.back().text.size());
            return 0;
        }
        while (!text.empty()) {
            const auto mark = text.find(mark_begin);
            add(text.substr(0, mark));
            if (mark == std::string_view::npos)
                break;
            const auto end = text.find(mark_end, mark);
            if (end == std::string_view::npos) // the text itself contains this character
                break;
            std::size_t index = 0;
            std::from_chars(text.data() + mark + mark_begin.size(), text.data() + end, index);
            if (index < insets_.size()) {
                if (const Inset& inset = insets_[index]; inset.value)
                    spans_.push_back({.style = style(), .value = *inset.value, .line = line_});
                else if (!inset.term.empty())
                    spans_.push_back(
                        {.style = SpanStyle::strong, .text = inset.text, .term = inset.term, .line = line_});
            }
            text.remove_prefix(end + mark_end.size());
        }
        return 0;
    }

    void add(std::string_view text) {
        if (text.empty())
            return;
        if (!spans_.empty() && spans_.back().style == style() && !spans_.back().value &&
            spans_.back().link == link_ && spans_.back().term.empty())
            spans_.back().text += text;
        else
            spans_.push_back({.style = style(), .text = std::string(text), .link = link_, .line = line_});
    }

    SpanStyle style() const { return styles_.empty() ? SpanStyle::plain : styles_.back(); }

    std::string text_;
    int first_line_;
    const MarkdownSink& sink_;
    std::vector<LessonError>& faults_;
    std::vector<Inset> insets_;
    Spans spans_;
    std::vector<SpanStyle> styles_; ///< of the open spans, outermost first
    std::string link_;              ///< of the link around the text
    ListBlock list_;
    TableBlock table_;
    std::vector<Spans> row_;
    std::vector<Callout> callouts_;
    Fence fence_;
    int in_list_ = 0;
    int line_;                   ///< of the most recent text, or the first line
    std::optional<int> begun_;   ///< line of the first text of the top-level block
    std::size_t counted_to_ = 0; ///< offset in text_ up to which counted_ has the number of line breaks
    std::ptrdiff_t counted_ = 0;
    bool in_head_ = false, in_code_ = false;
};

} // namespace

void read_markdown(std::string_view text, int first_line, const MarkdownSink& sink,
                   std::vector<LessonError>& faults) {
    MarkdownReader(text, first_line, sink, faults).read();
}

Spans read_spans(std::string_view text, int line, std::vector<LessonError>& faults) {
    Spans all;
    const MarkdownSink sink{.section = {},
                            .block =
                                [&](LessonBlock block, int) {
                                    if (auto* paragraph = std::get_if<Paragraph>(&block))
                                        all.insert(all.end(), paragraph->spans.begin(),
                                                   paragraph->spans.end());
                                },
                            .fence = {}};
    read_markdown(text, line, sink, faults);
    return all;
}

} // namespace headscope::lesson
