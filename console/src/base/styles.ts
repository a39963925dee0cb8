/** What every page stands on. */
import './fonts.css';
import './tokens.css';
import './base.css';
import './bits.css';
import './layout.css';
import './parts.css';
