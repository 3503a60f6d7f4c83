#include "core/figure/figure.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/figure/band.h"
#include "core/figure/packaged_fonts.h"
#include "core/figure/png.h"
#include "core/figure/shaped_text.h"
#include "core/figure/svg.h"
#include "core/text/plain_text.h"
#include "core/text/shaping.h"

#include <cairo-pdf.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>

namespace headscope::figure {
namespace {

constexpr double points_per_pixel = 0.75; // 72 points and 96 pixels per inch

template<class Type>
struct Release {
    void operator()(Type* object) const { g_object_unref(object); }
};
struct DestroyCairo {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
};
struct DestroySurface {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct FreeFont {
    void operator()(PangoFontDescription* font) const { pango_font_description_free(font); }
};
using CairoContext = std::unique_ptr<cairo_t, DestroyCairo>;
using CairoSurface = std::unique_ptr<cairo_surface_t, DestroySurface>;
using FontMap = std::unique_ptr<PangoFontMap, Release<PangoFontMap>>;
using Context = std::unique_ptr<PangoContext, Release<PangoContext>>;
using TextLayout = std::unique_ptr<PangoLayout, Release<PangoLayout>>;
using FontDescription = std::unique_ptr<PangoFontDescription, FreeFont>;

// No hinting, and positions at fractions of a pixel, so that a figure looks the same at every scale and in
// every format.
void set_font_options(PangoContext& context) {
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(&context, options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(&context, FALSE);
    pango_context_set_base_dir(&context, PANGO_DIRECTION_LTR);
    pango_cairo_context_set_resolution(&context, 96);
}

FontDescription describe(Font font, float size) {
    const bool mono = font == Font::mono || font == Font::mono_semibold;
    FontDescription description(pango_font_description_new());
    pango_font_description_set_family(description.get(),
                                      mono ? "JetBrains Mono,DejaVu Sans Mono,DejaVu Sans,monospace"
                                           : "Inter,DejaVu Sans,sans-serif");
    const bool semibold = font == Font::ui_semibold || font == Font::mono_semibold;
    pango_font_description_set_weight(description.get(), semibold                  ? PANGO_WEIGHT_SEMIBOLD
                                                         : font == Font::ui_medium ? PANGO_WEIGHT_MEDIUM
                                                                                   : PANGO_WEIGHT_NORMAL);
    pango_font_description_set_absolute_size(description.get(), static_cast<double>(size) * PANGO_SCALE);
    return description;
}

// Sets text as one line, even if it contains line breaks.
void set_text(PangoLayout& layout, std::string_view text, Font font, float size) {
    pango_layout_set_single_paragraph_mode(&layout, TRUE);
    // A line of the program's own text may begin with a quoted right-to-left word.
    const bool own_words =
        std::ranges::any_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    pango_layout_set_auto_dir(&layout, own_words ? FALSE : TRUE);
    const std::string shown = text::plain_text(text);
    pango_layout_set_text(&layout, shown.data(), static_cast<int>(shown.size()));
    pango_layout_set_font_description(&layout, describe(font, size).get());
}

double width_of(PangoLayout& layout) {
    PangoRectangle area;
    pango_layout_get_extents(&layout, nullptr, &area);
    return static_cast<double>(area.width) / PANGO_SCALE;
}

TextLayout make_layout(PangoFontMap& fonts) {
    use_packaged_fonts();
    const Context context(pango_font_map_create_context(&fonts));
    set_font_options(*context);
    return TextLayout(pango_layout_new(context.get()));
}

// For figures, which have any scale: their fonts are freed with the layout. The thread's font map would keep
// the fonts of each scale, 4 MB.
TextLayout make_figure_layout() {
    return make_layout(*FontMap(pango_cairo_font_map_new()));
}

// For single lines: uses the thread's font map, whose fonts are already open.
TextLayout make_line_layout() {
    return make_layout(*pango_cairo_font_map_get_default());
}

// The first character of a layout's text that no font has.
char32_t missing_character(PangoLayout& layout, std::string_view text, Font font, float size) {
    if (pango_layout_get_unknown_glyphs_count(&layout) == 0)
        return 0;
    const TextLayout alone = make_line_layout();
    return text::first_character(text, [&](char32_t, std::string_view bytes) {
        set_text(*alone, bytes, font, size);
        return pango_layout_get_unknown_glyphs_count(alone.get()) > 0;
    });
}

// Converts a premultiplied Cairo pixel to a Color.
Color unpremultiplied(std::uint32_t pixel) {
    const std::uint32_t alpha = pixel >> 24;
    if (alpha == 0)
        return 0;
    const auto part = [&](int shift) {
        return std::min(255U, ((pixel >> shift & 0xFFU) * 255 + alpha / 2) / alpha);
    };
    return alpha << 24 | part(0) << 16 | part(8) << 8 | part(16);
}

/// An image whose pixels count toward the memory limit until it is destroyed. `width` and `height` are in
/// pixels. The caller checks the status of the surface.
CairoSurface new_image(int width, int height) {
    static const cairo_user_data_key_t counted_bytes{};
    const std::size_t bytes =
        sizeof(std::uint32_t) * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    LargeBlock counted(bytes);
    CairoSurface image(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height));
    const cairo_status_t kept = cairo_surface_set_user_data(
        image.get(), &counted_bytes, reinterpret_cast<void*>(bytes),
        [](void* taken) { LargeBlock::release(reinterpret_cast<std::size_t>(taken)); });
    if (kept == CAIRO_STATUS_SUCCESS)
        counted.detach();
    return image;
}

// An image with one pixel per cell, in Cairo's premultiplied format.
CairoSurface grid_image(const GridItem& item) {
    CairoSurface image = new_image(item.cols, item.rows);
    if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS)
        throw Error(ErrorKind::input,
                    tr("figure.grid_x_cells_too",
                       "a grid of {} x {} cells is too large for a figure: draw a part of it", item.cols,
                       item.rows));
    unsigned char* const bytes = cairo_image_surface_get_data(image.get());
    const int stride = cairo_image_surface_get_stride(image.get());
    const std::size_t cells = static_cast<std::size_t>(item.cols) * static_cast<std::size_t>(item.rows);
    for (std::size_t i = 0; i < cells; ++i) {
        const Color color = (*item.pixels)[i];
        const std::uint32_t alpha = color >> 24;
        const auto scaled = [&](int shift) { return ((color >> shift & 0xFFU) * alpha + 127) / 255; };
        const std::uint32_t pixel = alpha << 24 | scaled(0) << 16 | scaled(8) << 8 | scaled(16);
        const auto row = static_cast<std::ptrdiff_t>(i / static_cast<std::size_t>(item.cols));
        const auto col = static_cast<std::ptrdiff_t>(i % static_cast<std::size_t>(item.cols));
        std::memcpy(bytes + row * stride + col * 4, &pixel, sizeof pixel);
    }
    cairo_surface_mark_dirty(image.get());
    return image;
}

cairo_status_t append(void* to, const unsigned char* bytes, unsigned int size) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
    return CAIRO_STATUS_SUCCESS;
}

std::string png_of(cairo_surface_t& surface) {
    std::string bytes;
    const cairo_status_t status = cairo_surface_write_to_png_stream(&surface, append, &bytes);
    if (status != CAIRO_STATUS_SUCCESS)
        throw Error(ErrorKind::internal,
                    std::string("the figure could not be packed as PNG: ") + cairo_status_to_string(status));
    return bytes;
}

class FigurePainter {
public:
    FigurePainter(cairo_t& cairo, PangoLayout& layout, double hairline)
        : cairo_(cairo), layout_(layout), hairline_(hairline) {}

    void operator()(const RectItem& item) const {
        const Rect& r = item.area;
        if (r.w <= 0 || r.h <= 0)
            return;
        if (is_visible(item.fill)) {
            outline(r, item.radius, 0);
            paint_with(item.fill, item.radius > 0);
            cairo_fill(&cairo_);
        }
        if (is_visible(item.stroke) && item.stroke_width > 0) {
            outline(r, item.radius, item.stroke_width / 2);
            paint_with(item.stroke, item.radius > 0);
            cairo_set_line_width(&cairo_, std::max<double>(item.stroke_width, hairline_));
            cairo_stroke(&cairo_);
        }
    }

    void operator()(const LineItem& item) const {
        if (!is_visible(item.color))
            return;
        cairo_move_to(&cairo_, item.from.x, item.from.y);
        cairo_line_to(&cairo_, item.to.x, item.to.y);
        paint_with(item.color, item.from.x != item.to.x && item.from.y != item.to.y);
        cairo_set_line_width(&cairo_, std::max<double>(item.width, hairline_));
        cairo_stroke(&cairo_);
    }

    void operator()(const CurveItem& item) const {
        if (!is_visible(item.color))
            return;
        cairo_move_to(&cairo_, item.from.x, item.from.y);
        cairo_curve_to(&cairo_, item.control_from.x, item.control_from.y, item.control_to.x,
                       item.control_to.y, item.to.x, item.to.y);
        paint_with(item.color, true);
        cairo_set_line_width(&cairo_, item.width);
        cairo_stroke(&cairo_);
    }

    void operator()(const PolygonItem& item) const {
        if (item.points.size() < 3 || !is_visible(item.fill))
            return;
        for (const Point& point : item.points)
            cairo_line_to(&cairo_, point.x, point.y);
        cairo_close_path(&cairo_);
        paint_with(item.fill, true);
        cairo_fill(&cairo_);
    }

    void operator()(const BandItem& item) const {
        if (is_drawn(item))
            fill_band(cairo_, item);
    }

    void operator()(const TextItem& item) const {
        if (item.text.empty() || !is_visible(item.color))
            return;
        set_text(layout_, item.text, item.font, item.size);
        const double width = width_of(layout_);
        const double before = item.align == Align::left ? 0 : item.align == Align::center ? width / 2 : width;
        cairo_save(&cairo_);
        cairo_translate(&cairo_, item.at.x, item.at.y);
        cairo_rotate(&cairo_, item.angle * std::numbers::pi / 180);
        cairo_move_to(&cairo_, -before, 0);
        paint_with(item.color, true);
        pango_cairo_show_layout_line(&cairo_, pango_layout_get_line_readonly(&layout_, 0));
        cairo_restore(&cairo_);
        cairo_new_path(&cairo_);
    }

    void operator()(const GridItem& item) const;

    void operator()(const ClipItem& item) const {
        cairo_reset_clip(&cairo_);
        if (item.area.w <= 0 || item.area.h <= 0)
            return;
        cairo_rectangle(&cairo_, item.area.x, item.area.y, item.area.w, item.area.h);
        cairo_set_antialias(&cairo_, CAIRO_ANTIALIAS_NONE);
        cairo_clip(&cairo_);
    }

private:
    // Keeps straight edges sharp; slanted and round edges are smoothed.
    void paint_with(Color color, bool smooth) const {
        const auto part = [&](int shift) { return static_cast<double>(color >> shift & 0xFFU) / 255; };
        cairo_set_source_rgba(&cairo_, part(0), part(8), part(16), part(24));
        cairo_set_antialias(&cairo_, smooth ? CAIRO_ANTIALIAS_DEFAULT : CAIRO_ANTIALIAS_NONE);
    }

    void outline(const Rect& r, double radius, double inset) const {
        const double x = r.x + inset, y = r.y + inset, w = std::max(0.0, r.w - 2 * inset),
                     h = std::max(0.0, r.h - 2 * inset);
        const double round = std::min({std::max(0.0, radius - inset), w / 2, h / 2});
        if (round <= 0) {
            cairo_rectangle(&cairo_, x, y, w, h);
            return;
        }
        constexpr double quarter = std::numbers::pi / 2;
        cairo_new_sub_path(&cairo_);
        cairo_arc(&cairo_, x + w - round, y + round, round, -quarter, 0);
        cairo_arc(&cairo_, x + w - round, y + h - round, round, 0, quarter);
        cairo_arc(&cairo_, x + round, y + h - round, round, quarter, 2 * quarter);
        cairo_arc(&cairo_, x + round, y + round, round, 2 * quarter, 3 * quarter);
        cairo_close_path(&cairo_);
    }

    cairo_t& cairo_;
    PangoLayout& layout_;
    double hairline_; // width of the thinnest line that is visible without smoothing
};

void FigurePainter::operator()(const GridItem& item) const {
    const auto cells =
        static_cast<std::size_t>(std::max(0, item.cols)) * static_cast<std::size_t>(std::max(0, item.rows));
    if (cells == 0 || !item.pixels || item.pixels->size() < cells || item.area.w <= 0 || item.area.h <= 0)
        return;
    const CairoSurface image = grid_image(item);
    cairo_save(&cairo_);
    cairo_rectangle(&cairo_, item.area.x, item.area.y, item.area.w, item.area.h);
    cairo_translate(&cairo_, item.area.x, item.area.y);
    cairo_scale(&cairo_, static_cast<double>(item.area.w) / item.cols,
                static_cast<double>(item.area.h) / item.rows);
    cairo_set_source_surface(&cairo_, image.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(&cairo_), CAIRO_FILTER_NEAREST);
    cairo_pattern_set_extend(cairo_get_source(&cairo_), CAIRO_EXTEND_PAD);
    cairo_set_antialias(&cairo_, CAIRO_ANTIALIAS_NONE);
    cairo_fill(&cairo_);
    cairo_restore(&cairo_);
}

int pixels(float logical, float scale) {
    const double side = std::round(static_cast<double>(logical) * static_cast<double>(scale));
    if (!(side >= 1 && side <= largest_png_side))
        throw Error(ErrorKind::input, tr("figure.figure_side_scale_cant",
                                         "a figure with a side of {} at scale {} can't be drawn: a PNG has 1 "
                                         "to 16,384 pixels a side; choose another scale, SVG or PDF",
                                         std::lround(logical), fmt::format("{}", scale)));
    return static_cast<int>(side);
}

CairoSurface pdf_surface(const std::string& title, std::string& bytes) {
    CairoSurface surface(cairo_pdf_surface_create_for_stream(append, &bytes, 1, 1));
    // Version 1.4 has no compressed object streams: other programs find the date and the size of the page.
    cairo_pdf_surface_restrict_to_version(surface.get(), CAIRO_PDF_VERSION_1_4);
    // A fixed date, so that the same picture gives the same file.
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
    if (!title.empty())
        cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, title.c_str());
    return surface;
}

void draw_on(cairo_surface_t& surface, const Scene& scene, double scale, Color background) {
    const CairoContext cairo(cairo_create(&surface));
    cairo_scale(cairo.get(), scale, scale);
    const TextLayout layout = make_figure_layout();
    pango_cairo_update_layout(cairo.get(), layout.get());
    const FigurePainter painter(*cairo, *layout, 1 / scale);
    painter(RectItem{{0, 0, scene.width, scene.height}, background});
    for (const SceneItem& item : scene.items)
        std::visit(painter, item);
    cairo_surface_flush(&surface);
    if (cairo_status(cairo.get()) != CAIRO_STATUS_SUCCESS)
        throw Error(ErrorKind::internal, std::string("the figure could not be drawn: ") +
                                             cairo_status_to_string(cairo_status(cairo.get())));
}

CairoSurface image_of(const Scene& scene, float scale, Color background) {
    CairoSurface surface = new_image(pixels(scene.width, scale), pixels(scene.height, scale));
    draw_on(*surface, scene, scale, background);
    return surface;
}

/// Cairo's own pixels, row by row.
std::vector<std::uint32_t> premultiplied(cairo_surface_t& image) {
    const int width = cairo_image_surface_get_width(&image), height = cairo_image_surface_get_height(&image);
    const unsigned char* const bytes = cairo_image_surface_get_data(&image);
    const int stride = cairo_image_surface_get_stride(&image);
    std::vector<std::uint32_t> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    const std::size_t row = static_cast<std::size_t>(width) * sizeof pixels[0];
    for (int y = 0; y < height; ++y)
        std::memcpy(pixels.data() + static_cast<std::ptrdiff_t>(y) * width,
                    bytes + static_cast<std::ptrdiff_t>(y) * stride, row);
    return pixels;
}

std::shared_ptr<const std::vector<Color>> pixels_of(cairo_surface_t& image) {
    std::vector<std::uint32_t> pixels = premultiplied(image);
    std::ranges::transform(pixels, pixels.begin(), unpremultiplied);
    return std::make_shared<const std::vector<Color>>(std::move(pixels));
}

} // namespace

std::string draw_figure(const Scene& scene, FigureFormat format, float scale, Color background,
                        float paper_scale) {
    if (format == FigureFormat::svg)
        return draw_svg(scene, background, paper_scale, figure_measure(),
                        [](const GridItem& grid) { return png_of(*grid_image(grid)); });
    if (format == FigureFormat::png)
        return with_resolution(png_of(*image_of(scene, scale, background)),
                               logical_pixels_per_inch * static_cast<double>(scale / paper_scale));
    return draw_pages({scene}, {}, background, paper_scale);
}

std::string draw_pages(const std::vector<Scene>& pages, const std::string& title, Color background,
                       float paper_scale) {
    std::string bytes;
    const double points = points_per_pixel * static_cast<double>(paper_scale);
    const CairoSurface surface = pdf_surface(title, bytes);
    for (const Scene& page : pages) {
        cairo_pdf_surface_set_size(surface.get(), page.width * points, page.height * points);
        draw_on(*surface, page, points, background);
        cairo_surface_show_page(surface.get());
    }
    cairo_surface_finish(surface.get());
    if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS)
        throw Error(ErrorKind::internal, std::string("the figure could not be written as PDF: ") +
                                             cairo_status_to_string(cairo_surface_status(surface.get())));
    return bytes;
}

GridItem draw_pixels(const Scene& scene, float scale, Color background) {
    const CairoSurface image = image_of(scene, scale, background);
    GridItem grid{.area = {0, 0, scene.width, scene.height},
                  .cols = cairo_image_surface_get_width(image.get()),
                  .rows = cairo_image_surface_get_height(image.get()),
                  .pixels = pixels_of(*image)};
    return grid;
}

TextMeasure figure_measure() {
    const std::shared_ptr<PangoLayout> layout(make_figure_layout());
    return [layout](std::string_view text, Font font, float size) {
        set_text(*layout, text, font, size);
        return static_cast<float>(width_of(*layout));
    };
}

InkAndColors separate_ink_and_colors(const std::vector<std::uint32_t>& in_white,
                                     const std::vector<std::uint32_t>& in_black) {
    InkAndColors out;
    std::vector<Color> colors;
    bool any = false;
    for (std::size_t i = 0; i < in_white.size(); ++i) {
        // Only ink differs between the two images, by the same amount in every color channel.
        const auto green = [](std::uint32_t pixel) { return pixel >> 8 & 0xFFU; };
        const std::uint32_t alpha = in_white[i] >> 24;
        const std::uint32_t ink =
            std::min(alpha, green(in_white[i]) - std::min(green(in_white[i]), green(in_black[i])));
        out.ink.push_back(ink << 24 | 0xFFFFFFU);
        colors.push_back(unpremultiplied((alpha - ink) << 24 | (in_black[i] & 0xFFFFFFU)));
        any = any || alpha - ink > 2; // smaller values are rounding
    }
    if (any)
        out.colors = std::move(colors);
    return out;
}

ShapedText shape_text(std::string_view text, Font font, float size) {
    const TextLayout layout = make_line_layout();
    set_text(*layout, text, font, size);
    PangoLayoutLine* const line = pango_layout_get_line_readonly(layout.get(), 0);
    PangoRectangle ink{};
    pango_layout_line_get_pixel_extents(line, &ink, nullptr);
    constexpr int around = 1; // for smoothed edges
    const int width = ink.width + 2 * around, height = ink.height + 2 * around;
    const auto drawn = [&](double grey) {
        const CairoSurface surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height));
        const CairoContext cairo(cairo_create(surface.get()));
        cairo_translate(cairo.get(), around - ink.x, around - ink.y);
        cairo_set_source_rgb(cairo.get(), grey, grey, grey);
        pango_cairo_show_layout_line(cairo.get(), line);
        cairo_surface_flush(surface.get());
        if (cairo_status(cairo.get()) != CAIRO_STATUS_SUCCESS)
            throw Error(ErrorKind::internal, std::string("a line of text could not be drawn: ") +
                                                 cairo_status_to_string(cairo_status(cairo.get())));
        return premultiplied(*surface);
    };
    InkAndColors parts = separate_ink_and_colors(drawn(1), drawn(0));
    ShapedText out;
    out.advance = static_cast<float>(width_of(*layout));
    const auto picture = [&](std::vector<Color> pixels) {
        return GridItem{.area = {static_cast<float>(ink.x - around), static_cast<float>(ink.y - around),
                                 static_cast<float>(width), static_cast<float>(height)},
                        .cols = width,
                        .rows = height,
                        .pixels = std::make_shared<const std::vector<Color>>(std::move(pixels)),
                        .smooth = true}; // otherwise it would be jagged if rotated
    };
    out.image = picture(std::move(parts.ink));
    if (!parts.colors.empty())
        out.colored = picture(std::move(parts.colors));
    out.missing_character = missing_character(*layout, text, font, size);
    return out;
}

} // namespace headscope::figure
