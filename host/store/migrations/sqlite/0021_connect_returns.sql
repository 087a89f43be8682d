-- Where the browser goes when a connect link has ended: back to a page of the application, or out of a popup
-- whose opener has this origin.
ALTER TABLE connect_flows ADD COLUMN return_url TEXT;
ALTER TABLE connect_flows ADD COLUMN popup_origin TEXT;
