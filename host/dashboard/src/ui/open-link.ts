// Opens an address that has to be asked for first. Browsers let a page open a tab only while a press is handled, so the tab
// is there before the address.

/** Answers whether the browser opened a tab; where it did not, the address is the caller's to show. */
export async function openWhenKnown(address: Promise<string>): Promise<{ url: string; opened: boolean }> {
  const tab = window.open('', '_blank');
  try {
    const url = await address;
    if (!tab) return { url, opened: false };
    // The page that opens has nothing to do with this one.
    tab.opener = null;
    tab.location.replace(url);
    return { url, opened: true };
  } catch (error) {
    tab?.close();
    throw error;
  }
}
