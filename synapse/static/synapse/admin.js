// The admin's theme brings htmx. It would put a style into each page, which the policy of contents refuses, and the
// theme's own file has that style; and it would make functions of attributes, which nothing here asks for.
htmx.config.includeIndicatorStyles = false;
htmx.config.allowEval = false;
