#include "app/shell/handout/closing_html.h"

#include "app/draw/lesson/lesson_panel.h"
#include "app/shell/page/html.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

using html::escaped;

std::string section(const std::string& id, const std::string& title, const std::string& inside) {
    return "<section class=\"closing\" aria-labelledby=\"" + id + "\">\n<h2 id=\"" + id + "\">" +
           escaped(title) + "</h2>\n" + inside + "</section>\n";
}

} // namespace

std::string reading_html(const std::vector<lesson::Reference>& reading, const SpansToHtml& html) {
    std::string items;
    for (const lesson::Reference& one : reading) {
        const std::string title = "<b>" + escaped(one.title) + "</b>";
        items +=
            "<li>" +
            (one.url.starts_with("http") ? "<a href=\"" + escaped(one.url) + "\">" + title + "</a>" : title) +
            "<br><span class=\"source\">" + escaped(source_line(one)) + "</span><br>" + html(one.why) +
            "</li>\n";
    }
    return items.empty() ? ""
                         : section("reading-title", tr("lesson_quiz.further_reading", "Further reading"),
                                   "<ul class=\"plain\">\n" + items + "</ul>\n");
}

std::string glossary_html(std::vector<const manual::Term*> terms) {
    std::ranges::sort(terms, {}, [](const manual::Term* term) { return manual::definition_of(*term).name; });
    std::string entries;
    for (const manual::Term* const term : terms) {
        const manual::Definition definition = manual::definition_of(*term);
        entries += "<div id=\"term-" + term->anchor + "\" lang=\"" + definition.language + "\"><dt>" +
                   escaped(definition.name) + "</dt><dd>" + escaped(definition.text) + "</dd></div>\n";
    }
    return entries.empty() ? ""
                           : section("terms-title", tr("closing_html.terms", "Terms of this lesson"),
                                     "<dl>\n" + entries + "</dl>\n");
}

} // namespace headscope::app
